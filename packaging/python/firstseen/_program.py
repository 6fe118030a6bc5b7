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
import time
from contextlib import suppress
from http.client import HTTPException
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Mapping
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from weakref import WeakSet

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import FileSettings

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


def flags(settings: Mapping[str, Any]) -> list[str]:
    """Returns flags: filter_only=True becomes --filter-only, a list repeats its flag, a dict becomes NAME=VALUE,NAME=VALUE."""
    out = []
    for name, value in settings.items():
        if isinstance(value, dict):
            value = ",".join(f"{part}={v}" for part, v in value.items())
        if name == "text_field" and not isinstance(value, str):
            value = ",".join(value)
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


def run(arguments: list[str], lines: bytes = b"") -> str:
    """Runs a command with lines as its input, and returns its output."""
    done = subprocess.run([find(), *arguments], input=lines, capture_output=True)
    if done.returncode not in DONE:
        raise Error(done.stderr.decode("utf-8", "replace").strip().removeprefix("firstseen: "), done.returncode)
    return done.stdout.decode()


def dedup(*inputs: str | os.PathLike[str], **settings: Unpack[FileSettings]) -> dict[str, Any]:
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
            raise Error(f"{address!r} is not a valid address here: give unix:PATH, the path of the server's socket, or http://HOST:PORT")
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


class Http:
    """A server at its HTTP address. A request is sent again while the server has no time, or does not answer."""

    def __init__(self, address: str, token: str | None) -> None:
        self._address, self._headers = address.rstrip("/"), {"Content-Type": "application/x-ndjson"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._lines: SimpleQueue[bytes | Error] = SimpleQueue()
        self.ask("GET", "/v1/stats")

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = Request(self._address + path, body, self._headers, method=method)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with urlopen(request, timeout=PATIENCE) as answer:
                    return bytes(answer.read())
            except HTTPError as e:
                words, waits = f"{e.code}: {e.read().decode('utf-8', 'replace').strip()}", e.code in (429, 503)
            except (OSError, HTTPException) as e:
                words, waits = f"{getattr(e, 'reason', e)}: start the server first", bool(body)
            if not waits or time.monotonic() > deadline:
                raise Error(f"{self._address}: {words}")
            time.sleep(0.2)

    def write(self, data: bytes) -> None:
        try:
            for line in self.ask("POST", "/v1/see", data).splitlines(keepends=True) if data else ():
                self._lines.put(line)
        except Error as e:
            self._lines.put(e)

    def line(self) -> bytes:
        line = self._lines.get()
        if isinstance(line, Error):
            self._lines.put(line)  # for the documents after it
            raise line
        return line

    def close(self) -> None:
        self._lines.put(Error(f"{self._address}: the connection is closed"))


PATIENCE = 60  # seconds

Link = Child | Socket | Http
