"""Documents in, verdicts out, in order."""

from __future__ import annotations

import json
import os
import threading
import warnings
from contextlib import suppress
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence
from urllib.parse import quote

from ._feed import MOST, Feed, Verdict, verdict
from ._program import Child, Error, Http, Link, Socket, flags, run

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings

ALONE = "an index has one process: use connect() and a server with num_proc > 1, in forks and other workers"
LOST = "an answer was lost: open it again, and send the unanswered documents again"
CLOSED = "it is closed"
NO_INDEX = "this needs an index, open(INDEX), or a server with connect('http://HOST:PORT')"
BUSY = "another see() is under way: exhaust or close it first"
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

    def __init__(
        self, link: Callable[[], Link], again: Callable[[], Seen] | None, text: str | Sequence[str], id: str, time: str | None, ahead: int, index: str = ""
    ) -> None:
        self._start, self._again, self._ahead, self._index = link, again, max(1, ahead), index
        self._fields = {"id": id, "time": time}
        self._texts = [text] if isinstance(text, str) else list(text)
        self._encode = json.JSONEncoder(ensure_ascii=False, default=plain, separators=(",", ":")).encode
        self._busy = threading.Lock()
        self._broken = ""  # the reason why see() fails, or ""
        self._pid = os.getpid()
        self._mark = os.urandom(8)  # of this connection, for caches that compare pickles, as of datasets
        self._link = link()

    def see(self, docs: Iterable[Any], progress: Callable[[int, int], object] | None = None) -> Iterator[Verdict]:
        """Judges and remembers documents: dicts, (id, text), (id, text, time) or texts.

        progress is called after each document with the numbers of documents and of kept ones.

        Another thread iterates over docs, at most `ahead` documents before the verdicts. Pass ids
        if you have them: the id of a text alone is its place, such as stdin:7.
        """
        self._here()
        if not self._busy.acquire(blocking=False):
            raise Error(BUSY)
        if self._broken:
            self._busy.release()
            raise Error(self._broken)
        feed, self._broken = Feed(self._link, docs, self._line, self._ahead), LOST
        try:
            kept = 0
            for n, v in enumerate(feed.verdicts(), 1):
                kept += v.kept
                if progress:
                    progress(n, kept)
                yield v
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

    def query(self, docs: Iterable[Any]) -> list[Verdict]:
        """Judges documents as see() does, and remembers none."""
        docs = list(docs)
        answers: list[Verdict] = []
        for i in range(0, len(docs), MOST):
            some = docs[i : i + MOST]
            lines = b"".join(map(self._line, some))
            got = self._ask(["query", self._index, "-"], "POST", "/v1/see?check=1", lines)
            if not isinstance(self._link, Http):  # the program leaves bad records out
                by_line = {json.loads(line)["line"]: line for line in got}
                got = [by_line.get(n, '{"verdict":"bad","kept":false,"reason":"it has no valid text"}') for n in range(1, len(some) + 1)]
            answers += [verdict(doc, line.encode()) for doc, line in zip(some, got)]
        return answers

    def forget(self, *ids: str | int) -> int:
        """Forgets the kept documents of some ids, and returns how many there were."""
        return sum(json.loads(self._ask(["index", "forget", "--", self._index, str(i)], "DELETE", f"/v1/documents?id={quote(str(i), safe='')}")[0])["forgotten"] for i in ids)

    def stats(self) -> dict[str, Any]:
        """Returns the sizes of the index, as index stats --json prints them."""
        return dict(json.loads(self._ask(["index", "stats", "--json", self._index], "GET", "/v1/stats")[0]))

    def _ask(self, arguments: list[str], method: str, path: str, lines: bytes = b"") -> list[str]:
        """Asks the server. Without one, the program that has the index ends, and begins again after the command."""
        self._here()
        if not self._busy.acquire(blocking=False):
            raise Error(BUSY)
        try:
            if self._broken:
                raise Error(self._broken)
            if isinstance(self._link, Http):
                return self._link.ask(method, path, lines or None).decode().splitlines()
            if not self._index:
                raise Error(NO_INDEX)
            self._link.close()
            try:
                return run(arguments, lines).splitlines()
            finally:
                self._link = self._start()
        finally:
            self._busy.release()

    def keep(self, batch: Any) -> list[bool]:
        """Reports which rows of a batch are kept, as in ds.filter(fs.keep, batched=True) of datasets.

        It warns of bad rows, such as those without a text, which are not kept.
        """
        names, id = getattr(batch, "column_names", batch), self._fields["id"]
        texts = [self._join(row) for row in zip(*(values(batch[name]) for name in self._texts))]
        ids, times = (values(batch[f]) if f in names else [None] * len(texts) for f in (id, self._fields["time"]))
        if self._again and any(map(missing, ids)):  # each of these rows would be a bad record and vanish
            raise Error(f"a server needs an id in each row, and {id!r} lacks one: name the column with connect(…, id=NAME)")
        got = list(self.see(zip(ids, texts, times)))
        if bad := [v for v in got if v.reason]:
            reason = str(bad[0].reason).replace('field "text"', f"column {','.join(self._texts)!r}")
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
            given["text"] = self._join([doc.get(name) for name in self._texts])
        line = {name: value for name, value in given.items() if not missing(value)}
        line.setdefault("text", None)
        # Half of a surrogate pair becomes its JSON escape.
        return self._encode(line).encode("utf-8", "backslashreplace") + b"\n"

    def _join(self, texts: Sequence[Any]) -> Any:
        """Returns the text of several fields, or the first value that is no text."""
        if len(self._texts) == 1:
            return texts[0]
        given = [plain(t) if isinstance(t, bytes) else t for t in texts if not missing(t)]
        others = [t for t in given if not isinstance(t, str)]
        return others[0] if others else "\n".join(filter(None, given)) if given else None

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
        if self._again is None:  # caches compare pickles; a copy in another process is refused on use
            return object.__new__, (Seen,), {"_mark": self._mark, "_fields": self._fields, "_texts": self._texts, "_again": None, "_pid": 0, "_broken": ""}
        return self._again, (), {"_mark": self._mark}


def open(
    index: str | os.PathLike[str] | None = None,
    *,
    text: str | Sequence[str] = "text",
    id: str = "id",
    time: str | None = None,
    ahead: int = 2048,
    **settings: Unpack[Settings],
) -> Seen:
    """Opens or creates an index; without one, documents are forgotten at the end.

    text, id and time name the fields of dicts; the texts of several are joined. Settings are flags of
    `firstseen dedup`, such as threshold=.65, memory="1GiB", limit={"bad": 9}. ahead is in documents.
    """
    index = os.path.abspath(index) if index else None  # the program may begin again, in another folder
    own = {"index": index, "format": "jsonl:time=time" if time else "jsonl"}
    arguments = ["dedup", "--quiet", "--annotate", *flags({**settings, **own}), "--out=-", "-"]
    return Seen(lambda: Child(arguments), None, text, id, time, ahead, index or "")


def connect(address: str, *, token: str | None = None, text: str | Sequence[str] = "text", id: str = "id", ahead: int = 2048) -> Seen:
    """Connects to a server: to "unix:PATH", its socket for --lines, or to "http://HOST:PORT", with the token if it has one.

    Documents have the time at which they reach the server.
    """
    again = partial(connect, address, token=token, text=text, id=id, ahead=ahead)
    link = partial(Http, address, token) if address.startswith(("http://", "https://")) else partial(Socket, address)
    return Seen(link, again, text, id, None, ahead)
