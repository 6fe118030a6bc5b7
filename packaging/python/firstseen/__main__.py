"""python -m firstseen runs the program, with its arguments and its exit code."""

import os
import subprocess
import sys

from . import Error, find


def main() -> int:
    try:
        command = [find(), *sys.argv[1:]]
    except Error as e:
        print(f"firstseen: {e}", file=sys.stderr)
        return 1
    if os.name == "posix":
        os.execv(command[0], command)
    with subprocess.Popen(command) as program:
        while True:
            try:
                return program.wait()
            except KeyboardInterrupt:
                continue  # the program got it too, and ends by itself


if __name__ == "__main__":
    sys.exit(main())
