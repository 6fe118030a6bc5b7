"""python -m firstseen runs the program, with its arguments and its exit code."""

import os
import subprocess
import sys

from . import Error, find

try:
    command = [find(), *sys.argv[1:]]
except Error as e:
    sys.exit(f"firstseen: {e}")
if os.name == "posix":
    os.execv(command[0], command)
sys.exit(subprocess.call(command))
