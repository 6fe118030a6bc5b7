"""The program: its place, its flags, its words."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from typing import IO, Any

DONE = (0, 3)  # 3: done, but some records were bad


class Error(Exception):
    """A failure, in the words of the program. code is its exit code, or None."""

    def __init__(self, words: str, code: int | None = None) -> None:
        super().__init__(words)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:  # worker processes hand it on
        return Error, (str(self), self.code)


def find() -> str:
    """The path of the program: $FIRSTSEEN_BINARY, the installed one, or one in $PATH."""
    name = "firstseen.exe" if os.name == "nt" else "firstseen"
    user = sysconfig.get_preferred_scheme("user")
    installed = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user)]
    # pip install --target has the scripts beside the module.
    installed.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    named = os.environ.get("FIRSTSEEN_BINARY")
    for path in [named] if named else [os.path.join(folder, name) for folder in installed]:
        if os.path.isfile(path):
            return path
    found = None if named else shutil.which(name)
    if found is None:
        raise Error(f"there is no program at {named or installed}: install the wheel of this platform, or set FIRSTSEEN_BINARY")
    return found


def flags(settings: dict[str, Any]) -> list[str]:
    """Command-line flags: filter_only=True is --filter-only, a list repeats its flag."""
    out = []
    for name, value in settings.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is None or v is False:
                continue
            flag = "--" + name.replace("_", "-")
            out.append(flag if v is True else f"{flag}={os.fspath(v) if isinstance(v, os.PathLike) else v}")
    return out


def start(arguments: list[str], **streams: Any) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Starts the program apart from Ctrl-C, which Python alone gets, and returns what it says, too."""
    command, said = [find(), *arguments], tempfile.TemporaryFile()
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": 0x200}  # CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(command, stderr=said, bufsize=0, **streams, **apart), said


def words(said: IO[bytes]) -> str:
    """What the program said, without its name."""
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return "\n".join(line.removeprefix("firstseen: ") for line in lines)


def dedup(*inputs: str | os.PathLike[str], **settings: Any) -> dict[str, Any]:
    """Runs `firstseen dedup` over files and returns its summary.

    Settings are its flags, such as out="kept.parquet", report="dups.jsonl", index="seen/".
    Bad records are counted in the summary; any other failure is an Error.
    """
    with tempfile.TemporaryDirectory() as folder:
        summary = settings.setdefault("summary", os.path.join(folder, "summary.json"))
        arguments = ["dedup", "--quiet", *flags(settings), "--", *(os.fspath(path) for path in inputs)]
        program, said = start(arguments, stdin=subprocess.DEVNULL)
        try:
            code = program.wait()
        except BaseException:
            program.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
            program.wait()
            raise
        with said:
            spoken = words(said)
        if code not in DONE:
            raise Error(spoken or f"the program ended with code {code}", code)
        with open(summary, encoding="utf-8") as f:
            return dict(json.load(f))
