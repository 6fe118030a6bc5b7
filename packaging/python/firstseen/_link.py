"""The two ways to the program: a child with pipes, or the socket of a server."""

from __future__ import annotations

import logging
import socket
import subprocess
import threading

from ._program import DONE, Error, start, words

READ = 1 << 18  # bytes


class Child:
    """A firstseen dedup --annotate of our own."""

    def __init__(self, arguments: list[str]) -> None:
        self._program, self._said = start(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._program.stdin is not None and self._program.stdout is not None
        self._in, self._out = self._program.stdin, self._program.stdout
        self._writing = threading.Lock()

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        with self._writing:
            while view:  # an unbuffered pipe may take a part
                view = view[self._in.write(view) :]

    def read(self) -> bytes:
        return self._out.read(READ)

    def died(self) -> Error:
        code = self._program.wait()
        return Error(words(self._said) or f"the program ended with code {code}", code)

    def close(self) -> None:
        """Lets the program finish: it remembers all that it was sent."""
        # A writer may hold the lock until its answers are read.
        threading.Thread(target=self._end, daemon=True).start()
        while self.read():
            pass
        self._out.close()
        died, said = self.died(), words(self._said)
        self._said.close()
        if died.code not in DONE:
            raise died
        for line in said.splitlines():
            logging.getLogger("firstseen").warning("%s", line)

    def _end(self) -> None:
        with self._writing:
            self._in.close()


class Socket:
    """A connection to the lines of a server."""

    def __init__(self, address: str) -> None:
        kind, _, path = address.partition(":")
        if kind != "unix" or not path or not hasattr(socket, "AF_UNIX"):
            raise Error(f"{address!r} is no address here: give unix:PATH, the place of the server's socket")
        self._address = address
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as e:
            self._socket.close()
            raise Error(f"{address}: {e.strerror}: start the server first") from e

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self) -> bytes:
        try:
            return self._socket.recv(READ)
        except ConnectionError:
            return b""

    def died(self) -> Error:
        return Error(f"{self._address}: the server closed the connection: send the unanswered documents again")

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes a writer
        except OSError:
            pass
        self._socket.close()


Link = Child | Socket
