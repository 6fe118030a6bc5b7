"""Revisit records: crawls of the awkward site are deduplicated with --revisit, in one run
and in two over one index, and the output is read by warcio. Every record of the output is
one of the inputs' as it came, or a revisit record whose target is a record with the same
payload, or a metadata record about one that is not there; running once more changes
nothing.

python bench/webarchive/revisits.py FIRSTSEEN DIR
"""

import base64
import gzip
import hashlib
import io
import os
import subprocess
import sys
import uuid

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import articles
import awkward
import crawl

faults = []


def expect(true, what):
    if not true:
        faults.append(what)
        print("WRONG:", what, file=sys.stderr)


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    expect(p.returncode == 0, f"{' '.join(args)}: exit {p.returncode}: {p.stderr[:300]}")
    return p


class Record:
    """A record as warcio reads it: fields, header of HTTP, body as it is stored, and the
    payload, of which chunks are no part."""

    def __init__(self, r):
        get = r.rec_headers.get_header
        self.kind, self.id, self.date = r.rec_type, get("WARC-Record-ID"), get("WARC-Date")
        self.uri = (get("WARC-Target-URI") or "").strip("<>")
        self.version = r.rec_headers.protocol
        self.get = get
        self.http = r.http_headers.to_str() if r.http_headers else None
        self.body = r.raw_stream.read()
        coding = r.http_headers.get_header("Transfer-Encoding", "") if r.http_headers else ""
        self.payload = dechunked(self.body) if "chunked" in coding.lower() else self.body

    def digests(self):
        """What it may say that its digest is: of the payload or, as wget and warcio do, of
        the body with chunks."""
        return {"sha1:" + base64.b32encode(hashlib.sha1(b).digest()).decode() for b in (self.payload, self.body)}


def dechunked(body):
    out, at = b"", 0
    while True:
        end = body.index(b"\n", at) if b"\n" in body[at:at + 20] else -1
        try:
            size = int(body[at:end].split(b";")[0], 16) if end >= 0 else None
        except ValueError:
            size = None
        if size is None:
            return body  # the writer has put the chunks together
        if size == 0:
            return out
        out += body[end + 1:end + 1 + size]
        at = end + 1 + size + 2


def records(name):
    with open(name, "rb") as f:
        return [Record(r) for r in ArchiveIterator(f, check_digests="raise")]


def by_warcio(name, version, site):
    """Responses of the site, each twice at other times, once in one piece and once in
    chunks, with digests that are right, wrong, in hexadecimal digits, and none."""
    with open(name, "wb") as f:
        w = WARCWriter(f, gzip=True, warc_version=version)
        for turn in range(2):
            for n, (path, a) in enumerate(site.items()):
                if a.paragraphs is None:
                    continue
                body, headers = a.body, list(a.headers.items())
                if (turn + n) % 2:
                    body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (a.body[:50 + n], a.body[50 + n:])) + b"0\r\n\r\n"
                    headers.append(("Transfer-Encoding", "chunked"))
                named = {"WARC-Date": f"2024-0{turn + 1}-03T04:05:06Z", "WARC-IP-Address": "127.0.0.1"}
                digest = hashlib.sha1(a.body)
                named.update([{}, {"WARC-Payload-Digest": "sha1:" + "A" * 32}, {"WARC-Payload-Digest": "sha1:" + digest.hexdigest()},
                              {"WARC-Payload-Digest": "sha1:" + base64.b32encode(digest.digest()).decode()},
                              {"WARC-Payload-Digest": "sha256:" + hashlib.sha256(a.body).hexdigest()}][n % 5])
                http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
                # No digests of warcio's own.
                record = w.create_warc_record("http://example.org" + path, "response", payload=io.BytesIO(body), http_headers=http, warc_headers_dict=named)
                if n % 5 == 0:
                    record.rec_headers.remove_header("WARC-Payload-Digest")
                w.write_record(record)


def check(name, inputs, whole):
    """Reads an output, whose targets are in whole; returns how many of each kind."""
    given = {}
    for i in inputs:
        for raw in crawl.records_of(i):
            given[raw] = True
    written = crawl.records_of(name)
    here, known = list(zip(records_no_check(name), written)), {}
    for r in whole:
        if r.kind in ("response", "resource"):
            known[r.uri, r.date] = r
    originals = {(r.uri, r.date): r for i in inputs for r in records_no_check(i) if r.kind in ("response", "resource")}
    counts, ids = {}, set()
    for r, raw in here:
        if raw in given:
            counts[r.kind] = counts.get(r.kind, 0) + 1
            continue
        expect(r.kind in ("revisit", "metadata"), f"{name}: {r.kind} {r.uri} is not the input's")
        expect(r.id not in ids, f"{name}: {r.id} twice")
        ids.add(r.id)
        expect(uuid.UUID(r.id.strip("<>").removeprefix("urn:uuid:")).version == 5, f"{name}: {r.id}")
        was = originals.get((r.uri, r.date))
        if r.kind == "metadata":
            expect(was and r.get("WARC-Refers-To") == was.id, f"{name}: metadata of {r.uri}")
            counts["told"] = counts.get("told", 0) + 1
            continue
        counts["written"] = counts.get("written", 0) + 1
        target = known.get((r.get("WARC-Refers-To-Target-URI"), r.get("WARC-Refers-To-Date")))
        if not target:
            expect(False, f"{name}: {r.uri} at {r.date} refers to nothing")
            continue
        digest = r.get("WARC-Payload-Digest")
        stated = target.get("WARC-Payload-Digest")
        expect(target.payload == was.payload, f"{name}: {r.uri} has another payload than {target.uri}")
        expect(digest == stated or digest in target.digests(), f"{name}: {r.uri}: digest {digest}, of the target {stated}")
        expect(r.http == was.http and r.body == b"", f"{name}: {r.uri}: {r.http!r} {r.body[:50]!r}")
        expect(r.version == was.version, f"{name}: {r.version} of {was.version}")
        expect(r.get("WARC-Profile") == f"http://netpreserve.org/warc/{r.version[5:]}/revisit/identical-payload-digest", f"{name}: {r.get('WARC-Profile')}")
        block = raw[raw.index(b"\r\n\r\n") + 4:]
        expect(r.get("WARC-Block-Digest") == "sha1:" + base64.b32encode(hashlib.sha1(block).digest()).decode(), f"{name}: block digest of {r.uri}")
    return counts


def records_no_check(name):
    with open(name, "rb") as f:
        return [Record(r) for r in ArchiveIterator(f)]


def one_run(firstseen, name, inputs, *flags):
    out = name + ".out.warc.gz"
    run(firstseen, "dedup", "-q", "--revisit", "--out", out, "--report", name + ".dups", *flags, *inputs)
    counts = check(out, inputs, records_no_check(out))
    again = name + ".again.warc.gz"
    run(firstseen, "dedup", "-q", "--revisit", "--out", again, *flags, out)
    expect(open(out, "rb").read() == open(again, "rb").read(), f"{name}: running on the output changes it")
    for jobs in ("1", "3"):
        run(firstseen, "dedup", "-q", "-j", jobs, "--revisit", "--out", again, *flags, *inputs)
        expect(open(out, "rb").read() == open(again, "rb").read(), f"{name}: other bytes with -j {jobs}")
    told(name, inputs, counts)


def two_runs(firstseen, name, first, second):
    index, one, two = name + ".index", name + ".1.warc.gz", name + ".2.warc.gz"
    run(firstseen, "dedup", "-q", "--revisit", "--index", index, "--out", one, *first)
    run(firstseen, "dedup", "-q", "--revisit", "--index", index, "--out", two, *second)
    whole = records_no_check(one) + records_no_check(two)
    told(name, second, check(two, second, whole))
    check(one, first, whole)


def told(name, inputs, counts):
    print(f"| {name} | {sum(len(crawl.records_of(i)) for i in inputs)} | " +
          " | ".join(str(counts.get(k, 0)) for k in ("response", "resource", "conversion", "revisit", "written", "told")) + " |")


def main():
    firstseen, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    site = awkward.answers()
    base = awkward.serve(site)
    paths = [p for p in site if p not in ("/moved", "/found")]
    first = crawl.wget("r1", base, paths)
    later = crawl.wget("r2", base, ["/shift-jis", *paths])
    refers = crawl.wget("r3", base, paths, "--warc-dedup=r1.cdx")
    by_warcio("w10.warc.gz", "1.0", site)
    by_warcio("w11.warc.gz", "1.1", site)
    crawl.by_warcio("all.warc.gz", site, "1.1", True)
    print("| run | records | responses | resources | conversions | revisits copied | revisits written | metadata |\n|---|---|---|---|---|---|---|---|")
    one_run(firstseen, "two crawls by wget", [first, later])
    one_run(firstseen, "and one with --warc-dedup", [first, refers, later])
    one_run(firstseen, "near copies kept", [first, later], "--near", "keep")
    one_run(firstseen, "by warcio 1.0", ["w10.warc.gz"])
    one_run(firstseen, "by warcio 1.1", ["w11.warc.gz"])
    one_run(firstseen, "records of all types", ["all.warc.gz", "w11.warc.gz"])
    one_run(firstseen, "id of another field", [first, later, "w11.warc.gz"], "--id-field", "WARC-Record-ID")
    two_runs(firstseen, "in two runs", [first], [later, refers])
    two_runs(firstseen, "in two runs by warcio", ["w10.warc.gz"], ["w11.warc.gz"])
    print("all as expected" if not faults else f"{len(faults)} faults", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
