"""Sends the documents of one see() and reads the answers."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from itertools import chain
from queue import SimpleQueue
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from ._program import Error, Link

CHUNK = 1 << 15  # bytes of documents written at once
MOST = 1000  # documents in a request
ANSWER = b'"firstseen":'  # cannot occur in a string, which escapes quotes


class Verdict(NamedTuple):
    """The answer to one document."""

    doc: Any  # as given
    fields: dict[str, Any]  # the whole answer; see "Annotated lines" in the manual
    verdict: str
    kept: bool
    of: str | int | None  # the id of the earlier document
    score: float | None  # the share in common, from 0 to 1
    again: bool  # kept before with this id and text: store it only once
    reason: str | None  # of a bad record, which is never kept


def verdict(doc: Any, line: bytes) -> Verdict:
    at = line.rfind(ANSWER)  # an answer by HTTP is the verdict alone
    f = json.loads(line if at < 0 else line[at + len(ANSWER) : -2])
    return Verdict(doc, f, f["verdict"], f["kept"], f.get("of"), f.get("score"), f.get("again", False), f.get("reason"))


class Feed:
    """One thread reads the source; another writes to the link all documents that are ready."""

    def __init__(self, link: Link, source: Iterable[Any], line: Callable[[Any], bytes], ahead: int) -> None:
        self._link, self._source, self._line = link, source, line
        self._room = threading.Semaphore(ahead)  # counts documents without a verdict
        self._ready: SimpleQueue[tuple[Any, bytes] | None] = SimpleQueue()
        self._sent: SimpleQueue[list[Any] | None] = SimpleQueue()  # the documents of each write
        self._stopped = False
        self.failure: BaseException | None = None  # of the source
        for work in self._take, self._write:
            threading.Thread(target=work, daemon=True).start()

    def _take(self) -> None:
        try:
            for doc in self._source:
                line = self._line(doc)
                self._room.acquire()
                if self._stopped:
                    return
                self._ready.put((doc, line))
        except BaseException as e:
            self.failure = e
        finally:
            self._ready.put(None)

    def _write(self) -> None:
        last = False
        while not last and not self._stopped:
            docs: list[Any] = []
            text = b""
            while not last and (not docs or len(docs) < MOST and len(text) < CHUNK and not self._ready.empty()):
                if (item := self._ready.get()) is None:
                    last = True
                else:
                    docs.append(item[0])
                    text += item[1]
            if not self._stopped:
                self._sent.put(docs)
                with suppress(OSError, ValueError):  # the reader notices the end and reports its cause
                    self._link.write(text)
        self._sent.put(None)

    def verdicts(self) -> Iterator[Verdict]:
        for docs in iter(self._sent.get, None):
            awaited = len(docs)
            try:
                for doc in docs:
                    awaited -= 1
                    yield verdict(doc, self._link.line())
                self._room.release(len(docs) or 1)
            except GeneratorExit:  # read the remaining answers, but do not yield them
                self.stop()
                with suppress(Error, ValueError):  # the next see() reports that the program is gone
                    for rest in chain([docs[len(docs) - awaited :]], iter(self._sent.get, None)):
                        for _ in rest:
                            self._link.line()
                raise

    def stop(self) -> None:
        self._stopped = True
        self._room.release()
        self._ready.put(None)
