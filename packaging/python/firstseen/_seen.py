"""Documents in, verdicts out, in order."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Callable, Iterable, Iterator

from ._link import Child, Link, Socket
from ._program import Error, flags

CHUNK = 1 << 15  # bytes written at once: at most a pipe holds, or a writer could wait for its own reader
ANSWER = b'"firstseen":'  # in a string its quotes would be escaped


class Verdict:
    """The answer to one document.

    doc is the document as given, fields the whole answer as the manual describes it.
    of is the id of the earlier document, score the share in common, from 0 to 1, or None.
    again: the document was kept before, by this id and text, and must be stored only once.
    """

    __slots__ = ("doc", "fields", "kept", "of", "score", "verdict")

    def __init__(self, doc: Any, fields: dict[str, Any]) -> None:
        self.doc, self.fields = doc, fields
        self.verdict: str = fields["verdict"]
        self.kept: bool = fields["kept"]
        self.of: str | int | None = fields.get("of")
        self.score: float | None = fields.get("score")

    @property
    def again(self) -> bool:
        return bool(self.fields.get("again", False))

    @property
    def reason(self) -> str | None:
        """Why the document is a bad record, which is never kept."""
        return self.fields.get("reason")

    def __repr__(self) -> str:
        return f"Verdict({self.fields})"


def values(column: Any) -> list[Any]:
    """The plain values of a column of pyarrow, polars, pandas or numpy."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


class Feed(threading.Thread):
    """Sends the documents of one see() from a thread of its own, and reads the answers.

    A line is sent at once if no answer is awaited, else with others, so that a slow
    source is answered promptly and a fast one in large writes.
    """

    def __init__(self, link: Link, source: Iterable[Any], line: Callable[[Any], bytes], ahead: int) -> None:
        super().__init__(daemon=True)
        self.link, self.source, self.line, self.ahead = link, source, line, ahead
        self.docs: deque[Any] = deque()  # without an answer
        self.lines: list[bytes] = []  # not sent yet
        self.size = 0  # bytes of lines
        self.flying = 0  # documents sent, with no answer read
        self.failure: BaseException | None = None
        self.done = self.cancelled = False
        self.changed = threading.Condition()
        self.sending = threading.Lock()

    def run(self) -> None:
        try:
            for doc in self.source:
                if not self.add(doc, self.line(doc)):
                    return
        except BaseException as e:  # raised where the answers are read
            self.failure = e
        finally:
            with self.changed:
                self.done = True
                self.changed.notify_all()

    def add(self, doc: Any, line: bytes) -> bool:
        with self.changed:
            self.docs.append(doc)
            self.lines.append(line)
            self.size += len(line)
            full = len(self.docs) >= self.ahead
            send = full or self.size >= CHUNK or not self.flying
            if not self.flying:
                self.changed.notify_all()
        if send:
            self.send()
        if full:
            with self.changed:
                self.changed.wait_for(lambda: self.cancelled or len(self.docs) < self.ahead)
        return not self.cancelled

    def send(self) -> None:
        with self.sending:
            with self.changed:
                lines, self.lines, self.size = self.lines, [], 0
                if self.cancelled or not lines:
                    return
                self.flying += len(lines)
                self.changed.notify_all()
            try:
                self.link.write(b"".join(lines))
            except OSError:
                pass  # the reader finds the end, and its cause

    def read(self) -> bytes:
        data = self.link.read()
        with self.changed:
            self.flying -= data.count(b"\n")
        return data

    def answers(self) -> Iterator[Verdict]:
        rest = b""
        while True:
            with self.changed:
                self.changed.notify_all()
                self.changed.wait_for(lambda: self.flying or self.lines or self.done)
                flying, over = self.flying, self.done and not self.docs
            if over:
                break
            if not flying:
                self.send()
                continue
            data = self.read()
            if not data:
                raise self.link.died()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                fields = json.loads(line[line.rindex(ANSWER) + len(ANSWER) : -1])
                yield Verdict(self.docs.popleft(), fields)

    def stop(self) -> None:
        with self.changed:
            self.cancelled = True
            self.changed.notify_all()


class Seen:
    """An open index, or a connection to a server. open() and connect() make one.

    It serves one see() at a time, in the process that made it.
    """

    def __init__(self, link: Callable[[], Link], again: Callable[[], Seen] | None, text: str, id: str, time: str | None, ahead: int) -> None:
        self._start, self._again = link, again
        self._text, self._id, self._time, self._ahead = text, id, time, max(1, ahead)
        self._busy = threading.Lock()
        self._broken = ""  # why nothing more can be asked
        self._pid = os.getpid()
        self._link = link()

    def see(self, docs: Iterable[Any]) -> Iterator[Verdict]:
        """Judges and remembers documents: dicts, pairs (id, text) or texts.

        Another thread iterates over docs, at most `ahead` documents before the verdicts.
        A text alone has a place for its id, such as stdin:7, so give ids if there are any.
        """
        self._here()
        if not self._busy.acquire(blocking=False):
            raise Error("another see() is under way: exhaust or close it first")
        if self._broken:
            self._busy.release()
            raise Error(self._broken)
        feed = Feed(self._link, docs, self._line, self._ahead)
        self._broken = "an answer was lost: open it again, and send the unanswered documents again"
        try:
            feed.start()
            yield from feed.answers()
            self._broken = ""
        except GeneratorExit:
            feed.stop()
            while feed.flying and feed.read():
                pass
            self._broken = ""
            raise
        finally:
            feed.stop()
            self._busy.release()
        if feed.failure is not None:
            raise feed.failure

    def one(self, doc: Any) -> Verdict:
        """Judges and remembers one document."""
        return list(self.see([doc]))[0]

    def keep(self, batch: Any) -> list[bool]:
        """Whether each row of columns is kept: for ds.filter(fs.keep, batched=True) of datasets."""
        names = getattr(batch, "column_names", batch)
        texts = values(batch[self._text])
        ids = values(batch[self._id]) if self._id in names else [None] * len(texts)
        return [v.kept for v in self.see(zip(ids, texts))]

    def _here(self) -> None:
        if os.getpid() != self._pid:
            if self._again is None:
                raise Error("an index has one process: use connect() and a server with num_proc > 1 and in forks")
            self._pid, self._link, self._busy = os.getpid(), self._start(), threading.Lock()

    def _line(self, doc: Any) -> bytes:
        if isinstance(doc, str):
            doc = {self._text: doc}
        elif isinstance(doc, tuple):
            doc = {self._id: doc[0], self._text: doc[1]}
        text, id = doc.get(self._text), doc.get(self._id)
        try:
            return self._json(text, id, doc, encode_basestring).encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return self._json(text, id, doc, encode_basestring_ascii).encode()

    def _json(self, text: Any, id: Any, doc: Any, quote: Callable[[str], str]) -> str:
        line = "{" if id is None else f'{{"id":{quote(id) if isinstance(id, str) else json.dumps(id)},'
        if self._time is not None and doc.get(self._time) is not None:
            line += f'"time":{json.dumps(doc[self._time], default=str)},'
        return f'{line}"text":{quote(text) if isinstance(text, str) else json.dumps(text)}}}\n'

    def close(self) -> None:
        """Ends the program; the index remembers all documents that were sent."""
        if self._broken != "it is closed" and os.getpid() == self._pid:
            self._broken = "it is closed"
            self._link.close()

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        try:
            self.close()
        except Error:
            if kind is None:
                raise

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is None:
            raise Error("an index has one process: use connect() and a server with num_proc > 1 and other workers")
        return self._again, ()


def open(
    index: str | os.PathLike[str] | None = None, *, text: str = "text", id: str = "id", time: str | None = None, ahead: int = 2048, **settings: Any
) -> Seen:
    """Opens or makes an index; without one, documents are forgotten at the end.

    text, id and time are the fields of dicts. Settings are flags of `firstseen dedup`, such as
    threshold=.6, memory="1GiB", same_id="keep:again=drop". ahead is in documents.
    """
    settings |= {"index": index, "time_field": "time" if time else None}
    arguments = ["dedup", "--quiet", "--annotate", "--format=jsonl", *flags(settings), "--out=-", "-"]
    return Seen(lambda: Child(arguments), None, text, id, time, ahead)


def connect(address: str, *, text: str = "text", id: str = "id", time: str | None = None, ahead: int = 2048) -> Seen:
    """Connects to the lines of a server, as in connect("unix:/run/firstseen/lines")."""
    from functools import partial

    again = partial(connect, address, text=text, id=id, time=time, ahead=ahead)
    return Seen(lambda: Socket(address), again, text, id, time, ahead)
