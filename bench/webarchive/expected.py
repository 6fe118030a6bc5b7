"""What documents a web archive has, by warcio and, where that fails, by the bytes: a
reading that shares no code with firstseen.

    python expected.py FILE...        a line of JSON for each file: its documents
    python expected.py --all FILE...  what every record is, for a reader's eyes

A document is, by the rules of the manual, a record of the type response, resource or
conversion, of the types text/html, application/xhtml+xml or text/plain; an answer of HTTP
has the status 200 too.
"""

import gzip
import hashlib
import io
import json
import logging
import re
import sys
import zlib

import brotli
from warcio.archiveiterator import ArchiveIterator

TYPES = {"text/html", "application/xhtml+xml", "text/plain"}

# What was damaged on purpose, or is read by no rule at all: the records that are bad. It
# was found by looking at the bytes.
DAMAGED = {
    "chatnoir-resiliparse__clipped.warc.gz": (1, "its only member ends in the middle of its only record"),
    "solrwayback__transfer_compression_none_truncated.warc.gz": (1, "the third member ends within the answer's body"),
    "warcio__bad.arc": (4, "lengths of -1, -1 and abc; one record of one byte, which is no answer of HTTP"),
}


class Record:
    def __init__(self, kind, uri, mime, status, http, body, payload_type=""):
        self.kind, self.uri, self.mime, self.status, self.http, self.body = kind, uri.strip("<>"), mime, status, http, body
        self.payload_type = payload_type

    def why_not(self):
        """Why the record is no document, "" where it is one."""
        if self.kind not in ("response", "resource", "conversion"):
            return "type " + self.kind
        if self.uri.startswith("metadata://"):
            return "resource of wget"
        if self.http and self.status != "200":
            return "status " + self.status
        mime = media_type(self.mime) or media_type(self.payload_type)
        return "" if mime in TYPES else "media type " + (mime or "none")


def media_type(value):
    return (value or "").split(";")[0].split(",")[0].strip().lower()


def by_warcio(path):
    """The records as warcio has them; an error ends them."""
    with open(path, "rb") as stream:
        for r in ArchiveIterator(stream):
            headers, http = r.rec_headers, r.http_headers
            uri = headers.get_header("uri" if r.format == "arc" else "WARC-Target-URI") or ""
            if r.http_headers is None:
                body = r.content_stream().read()
                yield Record(r.rec_type, uri, headers.get_header("Content-Type"), "", False, body)
                continue
            if (http.get_header("Content-Encoding") or "").lower() == "br":  # which warcio cannot
                body = brotli.decompress(r.raw_stream.read())
            else:
                body = r.content_stream().read()
            yield Record(r.rec_type, uri, http.get_header("Content-Type"), http.get_statuscode() or "", True, body,
                         headers.get_header("WARC-Identified-Payload-Type"))


def members(raw):
    """What a gzip file holds, as far as it can be read."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    data = b""
    while raw:
        z = zlib.decompressobj(31)
        try:
            data += z.decompress(raw)
        except zlib.error:
            break
        raw = z.unused_data
    return data


def head(data):
    """A header: its first line, its fields, and what is behind it."""
    lines, pos = [], 0
    while True:
        end = data.find(b"\n", pos)
        if end < 0:
            end = len(data)
        line = data[pos:end].rstrip(b"\r")
        pos = end + 1
        if not line or pos > len(data):
            break
        lines.append(line.decode("utf-8", "replace"))
    fields = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    return lines[0] if lines else "", fields, data[pos:]


def by_bytes(path):
    """The records of a WARC, each from its header to the next, whatever its length says."""
    data = members(open(path, "rb").read())
    starts = [m.start() for m in re.finditer(rb"(?m)^WARC/[01]\.\d+\r?\n(?=WARC-|Content-)", data)] + [len(data)]
    for at, end in zip(starts, starts[1:]):
        _, fields, content = head(data[at:end])
        for _ in range(2):
            content = content.removesuffix(b"\n").removesuffix(b"\r")
        kind, mime, http, status = fields["warc-type"], fields.get("content-type"), False, ""
        if kind == "response" and content.startswith(b"HTTP/"):
            first, inner, content = head(content)
            http, mime, status = True, inner.get("content-type"), first.split()[1]
            if inner.get("transfer-encoding") == "chunked":
                raise ValueError("chunked")
            if inner.get("content-encoding") == "gzip" and content[:2] == b"\x1f\x8b":
                content = gzip.GzipFile(fileobj=io.BytesIO(content)).read()
        yield Record(kind, fields.get("warc-target-uri", ""), mime, status, http, content)


def read(path):
    """The records of a file, and how they were found."""
    if path.rsplit("/", 1)[-1] in DAMAGED:
        return [], "by hand: " + DAMAGED[path.rsplit("/", 1)[-1]][1]
    try:
        records, how = list(by_warcio(path)), "warcio"
        if all(r.body or r.why_not() for r in records):
            return records, how
        why = "gives an empty body"
    except Exception as err:
        why = " ".join(str(err).split()) or type(err).__name__
    return list(by_bytes(path)), f"by bytes: warcio says: {why[:60]}"


def digest(body):
    """Of a body without the line ends behind it: where the record's length is wrong, nobody
    knows whose they are."""
    return hashlib.sha256(body.rstrip(b"\r\n")).hexdigest()[:16]


def main():
    logging.disable(logging.CRITICAL)
    everything = "--all" in sys.argv
    for path in [a for a in sys.argv[1:] if a != "--all"]:
        name = path.rsplit("/", 1)[-1]
        records, how = read(path)
        if everything:
            for r in records:
                print(name, r.kind, r.uri, len(r.body), r.why_not() or "DOCUMENT", sep="\t")
            continue
        docs = [r for r in records if not r.why_not()]
        print(json.dumps({
            "file": name,
            "ids": [r.uri for r in docs],
            "bodies": [digest(r.body) for r in docs],
            "bad": DAMAGED.get(name, (0,))[0],
            "read": how,
        }, ensure_ascii=False))


if __name__ == "__main__":
    main()
