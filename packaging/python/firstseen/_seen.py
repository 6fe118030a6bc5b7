"""Documents in, verdicts out, in order."""

from __future__ import annotations

import json
import os
import threading
import warnings
from contextlib import suppress
from functools import partial
from numbers import Number
from typing import Any, Callable, Iterable, Iterator

from ._feed import Feed, Verdict
from ._program import Child, Error, Link, Socket, flags

ALONE = "an index has one process: use connect() and a server with num_proc > 1, in forks and other workers"
LOST = "an answer was lost: open it again, and send the unanswered documents again"
CLOSED = "it is closed"
ENDED = "close() ended this see(): open it again, and send the unanswered documents again"


def values(column: Any) -> list[Any]:
    """Returns a column of pyarrow, polars, pandas or numpy as a list."""
    readers = [getattr(column, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)]
    return list(readers[0]() if readers else column)


def missing(value: Any) -> bool:
    """Reports whether a value is None, NaN of any type, or the NA or NaT of pandas."""
    if value is None or isinstance(value, str):
        return value is None
    return type(value).__name__ in ("NAType", "NaTType") or isinstance(value, Number) and value != value


def plain(value: Any) -> str | None:
    """Returns the text of a value that JSON does not have, or None for bytes that are not UTF-8."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        return None


class Seen:
    """An open index or a server connection. It runs one see() at a time, in the process that opened it."""

    def __init__(self, link: Callable[[], Link], again: Callable[[], Seen] | None, text: str, id: str, time: str | None, ahead: int) -> None:
        self._start, self._again, self._ahead = link, again, max(1, ahead)
        self._fields = {"id": id, "time": time, "text": text}
        self._encode = json.JSONEncoder(ensure_ascii=False, default=plain, separators=(",", ":")).encode
        self._busy = threading.Lock()
        self._broken = ""  # the reason why see() fails, or ""
        self._pid = os.getpid()
        self._mark = os.urandom(8)  # of this connection, for caches that compare pickles, as of datasets
        self._link = link()

    def see(self, docs: Iterable[Any]) -> Iterator[Verdict]:
        """Judges and remembers documents: dicts, (id, text), (id, text, time) or texts.

        Another thread iterates over docs, at most `ahead` documents before the verdicts. Pass ids
        if you have them: the id of a text alone is its place, such as stdin:7.
        """
        self._here()
        if not self._busy.acquire(blocking=False):
            raise Error("another see() is under way: exhaust or close it first")
        if self._broken:
            self._busy.release()
            raise Error(self._broken)
        feed, self._broken = Feed(self._link, docs, self._line, self._ahead), LOST
        try:
            yield from feed.verdicts()
            self._broken = self._broken.replace(LOST, "")
        except GeneratorExit:
            self._broken = self._broken.replace(LOST, "")
            raise
        except (Error, OSError, ValueError) as e:
            if self._broken == CLOSED:
                raise Error(ENDED) from e
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
        """Reports which rows of a batch are kept, as in ds.filter(fs.keep, batched=True) of datasets.

        It warns of bad rows, such as those without a text, which are not kept.
        """
        names, id = getattr(batch, "column_names", batch), self._fields["id"]
        texts = values(batch[self._fields["text"]])
        ids, times = (values(batch[f]) if f in names else [None] * len(texts) for f in (id, self._fields["time"]))
        if self._again and any(map(missing, ids)):  # each of these rows would be a bad record and vanish
            raise Error(f"a server needs an id in each row, and {id!r} lacks one: name the column with connect(…, id=NAME)")
        got = list(self.see(zip(ids, texts, times)))
        if bad := [v for v in got if v.reason]:
            reason = str(bad[0].reason).replace('field "text"', f"column {self._fields['text']!r}")
            remedy = "fill or drop such rows before, or use see(), whose verdicts have a reason"
            warnings.warn(f"{len(bad)} of {len(got)} rows are bad and not kept, the first because {reason}: {remedy}", stacklevel=2)
        return [v.kept for v in got]

    def _here(self) -> None:
        if os.getpid() != self._pid:
            if self._again is None:
                raise Error(ALONE)
            self._pid, self._link, self._busy = os.getpid(), self._start(), threading.Lock()
            self._broken = self._broken.replace(LOST, "")  # the answers of a see() in the other process

    def _line(self, doc: Any) -> bytes:
        if isinstance(doc, (str, tuple)):
            given = {"text": doc} if isinstance(doc, str) else dict(zip(("id", "text", "time"), doc))
        else:
            given = {name: doc.get(field) for name, field in self._fields.items()}
        line = {name: value for name, value in given.items() if not missing(value)}
        line.setdefault("text", None)
        # Half of a surrogate pair becomes its JSON escape.
        return self._encode(line).encode("utf-8", "backslashreplace") + b"\n"

    def close(self) -> None:
        """Ends the program; the index remembers all documents that were sent."""
        if self._broken != CLOSED and os.getpid() == self._pid:
            self._broken = CLOSED
            self._link.close()

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        with suppress(*[Error] if kind else []):
            self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is None:
            raise Error(ALONE)
        return self._again, (), {"_mark": self._mark}


def open(
    index: str | os.PathLike[str] | None = None, *, text: str = "text", id: str = "id", time: str | None = None, ahead: int = 2048, **settings: Any
) -> Seen:
    """Opens or creates an index; without one, documents are forgotten at the end.

    text, id and time name the fields of dicts. Settings are flags of `firstseen dedup`, such as
    threshold=.65, memory="1GiB", same_id="keep:again=drop". ahead is in documents.
    """
    settings |= {"index": index, "format": "jsonl:time=time" if time else "jsonl"}
    arguments = ["dedup", "--quiet", "--annotate", *flags(settings), "--out=-", "-"]
    return Seen(lambda: Child(arguments), None, text, id, time, ahead)


def connect(address: str, *, text: str = "text", id: str = "id", ahead: int = 2048) -> Seen:
    """Connects to the --lines socket of a server, as in connect("unix:/run/firstseen/lines").

    Documents have the time at which they reach the server.
    """
    again = partial(connect, address, text=text, id=id, ahead=ahead)
    return Seen(lambda: Socket(address), again, text, id, None, ahead)
