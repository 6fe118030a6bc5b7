"""Finds and runs the program, and connects to it as a child process or through a socket."""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
from contextlib import suppress
from typing import IO, Any
from weakref import WeakSet

DONE = (0, 3)  # 3: done, but some records were bad
SETTINGS = {"firstseen dedup --rejects FILE": "rejects=FILE", "--rejects FILE": "rejects=FILE", "--limit bad=N": 'limit="bad=N"'}


class Error(Exception):
    """A failure, with the message of the program. code is its exit code, or None."""

    def __init__(self, words: str, code: int | None = None) -> None:
        super().__init__(words)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:  # so that worker processes can pickle it
        return Error, (str(self), self.code)


def find() -> str:
    """Returns the path of the program: $FIRSTSEEN_BINARY, the installed one, or one in $PATH."""
    name = "firstseen.exe" if os.name == "nt" else "firstseen"
    named, beside = os.environ.get("FIRSTSEEN_BINARY"), os.path.dirname(os.path.dirname(__file__))
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    places = [named] if named else [os.path.join(f, name) for f in [*folders, os.path.join(beside, "bin")]]  # --target
    for path in [*filter(os.path.isfile, places), None if named else shutil.which(name)]:
        if path:
            return path
    raise Error(f"there is no program at {places}: install the wheel of this platform, or set FIRSTSEEN_BINARY")


def flags(settings: dict[str, Any]) -> list[str]:
    """Returns command-line flags: filter_only=True becomes --filter-only, and a list repeats its flag."""
    out = []
    for name, value in settings.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is not None and v is not False:
                flag = "--" + name.replace("_", "-")
                out.append(flag if v is True else f"{flag}={os.fspath(v) if isinstance(v, os.PathLike) else v}")
    return out


def start(arguments: list[str], **streams: Any) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Starts the program, and returns it with its stderr. Only Python receives Ctrl-C."""
    command, said = [find(), *arguments], tempfile.TemporaryFile()
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": 0x200}  # CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(command, stderr=said, bufsize=0, **streams, **apart), said


def words(said: IO[bytes]) -> str:
    """Returns the messages of the program, without its name, and with settings for the flags of bad records."""
    said.seek(0)
    text = said.read().decode("utf-8", "replace")
    for flag, setting in SETTINGS.items():
        text = text.replace(flag, setting)
    lines = text.strip().splitlines()
    return "\n".join(line.removeprefix("firstseen: ") for line in lines)


def warn(spoken: str) -> None:
    for line in spoken.splitlines():
        logging.getLogger("firstseen").warning("%s", line)


def dedup(*inputs: str | os.PathLike[str], **settings: Any) -> dict[str, Any]:
    """Runs `firstseen dedup` over files, with its flags as settings, and returns its summary. It warns of bad records."""
    with tempfile.TemporaryDirectory() as folder:
        summary = settings["summary"] = settings.get("summary") or os.path.join(folder, "summary.json")
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
        warn(spoken)
        with open(summary, encoding="utf-8") as f:
            return dict(json.load(f))


class Child:
    """A child process that runs firstseen dedup --annotate."""

    def __init__(self, arguments: list[str]) -> None:
        self._program, self._said = start(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pipes = self._program.stdin, self._program.stdout
        assert isinstance(pipes[0], io.RawIOBase) and isinstance(pipes[1], io.RawIOBase)
        self._in: io.RawIOBase = pipes[0]
        self._out: io.BufferedReader = io.BufferedReader(pipes[1], 1 << 18)
        self._program.stdin = self._program.stdout = None  # subprocess keeps a running program: its pipes end with this object
        RUNNING.add(self)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:  # an unbuffered pipe may accept only a part
            view = view[self._in.write(view) or 0 :]

    def line(self) -> bytes:
        line = self._out.readline()
        return line if line.endswith(b"\n") else self._end()

    def _end(self) -> bytes:
        code = self._program.wait()
        raise Error(words(self._said) or f"the program ended with code {code}", code)

    def close(self) -> None:
        """Lets the program finish: it remembers all documents sent."""
        self._in.close()
        with self._out, self._said:
            self._out.read()
            if self._program.wait() not in DONE:
                self._end()
            warn(words(self._said))


RUNNING: WeakSet[Child] = WeakSet()


def forked() -> None:
    """Closes the pipes to the programs in a fork, which would keep them from ending."""
    for child in RUNNING:
        child._in.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forked)


class Socket:
    """A connection to the --lines socket of a server."""

    def __init__(self, address: str) -> None:
        kind, _, path = address.partition(":")
        if kind != "unix" or not path or not hasattr(socket, "AF_UNIX"):
            raise Error(f"{address!r} is not a valid address here: give unix:PATH, the path of the server's socket")
        self._address, self._socket = address, socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as e:
            self._socket.close()
            raise Error(f"{address}: {e.strerror}: start the server first") from e
        self._out = self._socket.makefile("rb", 1 << 18)
        self.write = self._socket.sendall

    def line(self) -> bytes:
        with suppress(ConnectionError):
            if (line := self._out.readline()).endswith(b"\n"):
                return line
        raise Error(f"{self._address}: the server closed the connection: send the unanswered documents again")

    def close(self) -> None:
        self._socket.close()
        self._out.close()  # the connection ends with both


Link = Child | Socket
