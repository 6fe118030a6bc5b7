"""Runs the program, as python -m firstseen, with the given arguments, and ends with its exit code."""

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
