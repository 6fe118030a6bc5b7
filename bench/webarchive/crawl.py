"""Web archives by real tools, read by firstseen, and its output read back by warcio.

    python crawl.py FIRSTSEEN DIR

Crawls a local site (awkward.py) with wget, packed and not, and a second time with
--warc-dedup; writes the same answers with warcio as WARC 1.0 and 1.1 with records of all
types, and packs them as .warc.zst with and without dictionaries. Then it checks

  - that each file has the documents of the site, each once, with its article;
  - that firstseen dedup finds the copies, and nothing else;
  - that its output, read by warcio, has the kept records byte for byte, with digests that
    are right, and that running on the output changes nothing.

DIR is made for the files. Ends with 1 where something is not so.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import zlib

import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import articles
import awkward
import expected

faults = []


def expect(good, message):
    if not good:
        faults.append(message)
        print("!!", message, file=sys.stderr)


def run(*args, code=0):
    """Runs a command, which is to end with that code, and returns what it printed."""
    p = subprocess.run(args, capture_output=True)
    expect(p.returncode == code, f"{' '.join(args)}: exit {p.returncode}: {p.stderr.decode()[-400:]}")
    return p.stdout


# Files.


def wget(name, base, paths, *more):
    """Crawls, and returns the name of the archive."""
    urls = name + ".urls"
    with open(urls, "w") as f:
        f.writelines(base + path + "\n" for path in paths)
    subprocess.run(["wget", "-q", "--delete-after", "--no-directories", "--warc-file=" + name, "--warc-cdx", "--input-file=" + urls,
                    "--tries=1", *more], capture_output=True)
    return name + (".warc" if "--no-warc-compression" in more else ".warc.gz")


def http_head(answer):
    headers = list(answer.headers.items())
    if answer.chunked:
        headers.append(("Transfer-Encoding", "chunked"))
    return StatusAndHeaders(f"{answer.status} Something", headers, protocol="HTTP/1.1")


def chunked(body):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"


def by_warcio(name, site, version, packed):
    """Writes records of all types. Those that are documents have the URIs of the site, and
    http://resource/ and http://conversion/."""
    with open(name, "wb") as f:
        w = WARCWriter(f, gzip=packed, warc_version=version)
        w.write_record(w.create_warcinfo_record(name, {"software": "warcio"}))
        for path, answer in site.items():
            uri = "http://example.org" + path
            body = chunked(answer.body) if answer.chunked else answer.body
            response = w.create_warc_record(uri, "response", payload=io.BytesIO(body), http_headers=http_head(answer))
            w.write_record(response)
            ask = StatusAndHeaders("GET " + path + " HTTP/1.1", [("Host", "example.org"), ("Content-Type", "text/html")], is_http_request=True)
            w.write_record(w.create_warc_record(uri, "request", http_headers=ask))
            if answer.paragraphs is None:
                continue
            digest = response.rec_headers.get_header("WARC-Payload-Digest")
            date = response.rec_headers.get_header("WARC-Date")
            w.write_record(w.create_revisit_record(uri, digest, uri, date, http_headers=http_head(answer)))
            w.write_record(w.create_warc_record(uri, "metadata", payload=io.BytesIO(b"via: http://example.org/\r\n"), warc_content_type="application/warc-fields"))
        english = articles.guide("en")
        resource = articles.page("Resource", english[-1]).encode()
        w.write_record(w.create_warc_record("http://resource/", "resource", payload=io.BytesIO(resource), warc_content_type="text/html; charset=utf-8"))
        w.write_record(w.create_warc_record("http://conversion/", "conversion", payload=io.BytesIO("\n".join(articles.guide("zh_CN")[-1]).encode()), warc_content_type="text/plain"))
        w.write_record(w.create_warc_record("metadata://gnu.org/software/wget/warc/wget.log", "resource", payload=io.BytesIO(resource), warc_content_type="text/plain"))
        w.write_record(w.create_warc_record("urn:image", "resource", payload=io.BytesIO(b"\x89PNG"), warc_content_type="image/png"))
    return name


def records_of(name):
    """The records of an archive of warcio's or wget's, as bytes without what ends them."""
    raw = open(name, "rb").read()
    data = gzip.decompress(raw) if name.endswith(".gz") else raw
    found, at = [], 0
    while at < len(data):
        head = data.index(b"\r\n\r\n", at) + 4
        size = int(next(line for line in data[at:head].split(b"\r\n") if line.lower().startswith(b"content-length:")).split(b":")[1])
        assert data[head + size:head + size + 4] == b"\r\n\r\n", (name, at)
        found.append(data[at:head + size])
        at = head + size + 4
    return found


def as_zstd(name, source, dictionary=None, packed_dictionary=False):
    """Packs records as .warc.zst (draft of the IIPC): a frame each, a dictionary in a
    skippable frame before them."""
    options = {"dict_data": dictionary} if dictionary else {}
    compressor = zstandard.ZstdCompressor(level=9, write_checksum=True, **options)
    with open(name, "wb") as f:
        if dictionary:
            data = dictionary.as_bytes()
            if packed_dictionary:
                data = zstandard.ZstdCompressor().compress(data)
            f.write(b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data)
        for record in records_of(source):
            f.write(compressor.compress(record + b"\r\n\r\n"))
    return name


# Checks.


def check_texts(firstseen, name, want):
    """The documents are those that are wanted, ids and paragraphs, in any order, and each
    has its article."""
    docs = [json.loads(line) for line in run(firstseen, "texts", name).splitlines()]
    have = sorted(d["id"] for d in docs)
    expect(have == sorted(i for i, _ in want), f"{name}: ids {set(have) ^ {i for i, _ in want}}")
    paragraphs = dict(want)
    right = 0
    for d in docs:
        text = articles.squeezed(d["text"])
        missing = [p for p in paragraphs.get(d["id"], []) if articles.squeezed(p) not in text]
        expect(not missing, f"{name}: {d['id']} lacks {missing[:1]} in {d['text'][:200]!r}")
        # And no more than title, heading and a few words of the frame.
        surplus = len(text) - sum(len(articles.squeezed(p)) for p in paragraphs.get(d["id"], []))
        expect(surplus < 80, f"{name}: {d['id']} has {surplus} characters more than its article")
        right += not missing
    print(f"| `{os.path.basename(name)}` | {records_in(name)} | {len(want)} | {len(docs)} | {right} |")


def records_in(name):
    """How many records a file has; one of zstd has a frame for each."""
    if not name.endswith(".zst"):
        return len(records_of(name))
    return len(records_of("w1.warc.gz"))


def check_output(name, inputs):
    """Read by warcio, every record is one of the inputs', byte for byte, and its digests
    are right. Returns the ids."""
    known = {r for i in inputs for r in records_of(i)}
    ids, digests = [], 0
    with open(name, "rb") as f:
        iterator = ArchiveIterator(f, check_digests="raise")
        for record in iterator:
            block = record.content_stream().read() if record.http_headers is None else record.raw_stream.read()
            digest = record.rec_headers.get_header("WARC-Payload-Digest")
            if digest and "Transfer-Encoding" not in str(record.http_headers):
                expect(digest == "sha1:" + base64.b32encode(hashlib.sha1(block).digest()).decode(), f"{name}: digest of {record.rec_headers}")
                digests += 1
            ids.append(record.rec_headers.get_header("WARC-Target-URI").strip("<>"))
    written = records_of(name)
    expect(len(written) == len(ids), f"{name}: {len(written)} records, warcio reads {len(ids)}")
    expect(all(r in known for r in written), f"{name}: a record is not the input's")
    expect(len(set(written)) == len(written), f"{name}: a record twice")
    if name.endswith(".gz"):
        members = open(name, "rb").read().count(b"\x1f\x8b\x08")
        expect(members >= len(ids), f"{name}: {members} members for {len(ids)} records")
    return ids, digests


def check_dedup(firstseen, name, inputs, documents, copies):
    """Runs over inputs, and again over the output."""
    out, report = name + ".kept.warc.gz", name + ".report.jsonl"
    run(firstseen, "dedup", "-q", "--out", out, "--report", report, *inputs)
    removed = [json.loads(line) for line in open(report)]
    ids, digests = check_output(out, inputs)
    have = sorted((r["id"], r["of"]) for r in removed)
    expect(have == sorted(copies), f"{name}: removed {set(have) ^ set(copies) or have}")
    expect(len(ids) + len(removed) == documents, f"{name}: {len(ids)} kept, {len(removed)} removed, of {documents}")
    for ending in (".warc.gz", ".warc", ".warc.zst"):
        again = name + ".again" + ending
        run(firstseen, "dedup", "-q", "--out", again, "--report", report, out)
        expect(not open(report).read(), f"{name}: running on the output removes")
        if ending == ".warc.gz":
            expect(open(again, "rb").read() == open(out, "rb").read(), f"{name}: running on the output changes it")
        if ending == ".warc":
            expect(open(again, "rb").read() == gzip.decompress(open(out, "rb").read()), f"{name}: {ending} is another")
        if ending == ".warc.zst":
            with open(again, "rb") as f, open(out, "rb") as g:
                data = zstandard.ZstdDecompressor().stream_reader(f, read_across_frames=True).read()
                expect(data == gzip.decompress(g.read()), f"{name}: {ending} is another")
    print(f"{name}: {documents} documents, {len(removed)} removed, {len(ids)} records read back, {digests} digests right", file=sys.stderr)


def members_of(name):
    """Offset and length of each member of a gzip file, or frame of a zstd file, and whether
    it has a document. Frames here know their size."""
    raw = open(name, "rb").read()
    at, found = 0, []
    while at < len(raw):
        if name.endswith(".gz"):
            z = zlib.decompressobj(31)
            data = z.decompress(raw[at:])
            size = len(raw) - at - len(z.unused_data)
        else:
            z = zstandard.ZstdDecompressor().decompressobj()
            data = z.decompress(raw[at:])
            size = len(raw) - at - len(z.unused_data)
        found.append((at, size, data))
        at += size
    return raw, found


def check_damage(firstseen, name):
    """Of every member a bit is flipped, in the middle; then the file is cut there; then
    rubbish is put before it. All documents of other members are there, and there is a bad
    record with the member's place."""
    raw, members = members_of(name)
    ids = [d["id"] for d in map(json.loads, run(firstseen, "texts", name).splitlines())]
    runs = once = 0
    before = 0  # documents before the member
    broken = "broken" + name[name.index("."):]
    for at, size, data in members:
        docs = 0
        while before + docs < len(ids) and not docs and is_document(data, ids[before]):
            docs += 1
        middle = at + size // 2
        flipped = raw[:middle] + bytes([raw[middle] ^ 0x10]) + raw[middle + 1:]
        rubbish = b"rubbish" + bytes(range(256)) * 3
        for what, content, want in (
            ("flipped", flipped, ids[:before] + ids[before + docs:]),
            ("cut", raw[:middle], ids[:before]),
            ("rubbish", raw[:at] + rubbish + raw[at:], ids),
        ):
            with open(broken, "wb") as f:
                f.write(content)
            p = subprocess.run([firstseen, "texts", broken], capture_output=True)
            have = [json.loads(line)["id"] for line in p.stdout.splitlines()]
            told = [line for line in p.stderr.decode().splitlines() if line.startswith("firstseen: " + broken + ":")]
            where = f"{name}, {what} at {at} of {len(raw)}"
            if what == "rubbish" and at == 0:
                continue  # it is no web archive then
            runs += 1
            expect(have == want, f"{where}: documents {len(have)} for {len(want)}")
            # Where the flip is in a header, this and the member are bad.
            expect(p.returncode == 3 and len(told) in (1, 2), f"{where}: exit {p.returncode}, {p.stderr.decode()[:300]}")
            expect(at == 0 or {t.split(":")[2] for t in told} == {str(at)}, f"{where}: told of {told}")
            once += len(told) == 1
        before += docs
    expect(before == len(ids), f"{name}: {before} of {len(ids)} documents were found in members")
    print(f"{name}: {runs} damaged files, told once in {once}", file=sys.stderr)


def is_document(data, uri):
    """Whether a record is the document of that URI: no other of the same URI has one of
    these types."""
    head = data[:data.index(b"\r\n\r\n")]
    kind = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"WARC-Type"))
    target = next((line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"WARC-Target-URI")), b"")
    return kind in (b"response", b"resource", b"conversion") and target.strip(b"<>").decode() == uri


def main():
    firstseen, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    site = awkward.answers()
    pages = {path: a.paragraphs for path, a in site.items() if a.paragraphs is not None}
    base = awkward.serve(site)
    print("| file | records | documents | found | articles right |\n|---|---|---|---|---|")

    paths = [p for p in site if p not in ("/moved", "/found")]
    first = wget("first", base, paths)
    plain = wget("plain", base, paths, "--no-warc-compression", "--no-warc-digests")
    moved = wget("moved", base, ["/moved", "/found"])
    second = wget("second", base, ["/shift-jis", *paths], "--warc-dedup=first.cdx")
    crawled = [(base + path, p) for path, p in pages.items()]
    check_texts(firstseen, first, crawled)
    check_texts(firstseen, plain, crawled)
    check_texts(firstseen, moved, [(base + path, pages[path]) for path in ("/plain", "/gbk")])
    revisits = sum(b"WARC-Type: revisit" in r for r in records_of(second))
    print(f"{revisits} revisits in {second}", file=sys.stderr)
    left = [r.uri for r in expected.read(second)[0] if not r.why_not()]
    check_texts(firstseen, second, [(u, pages[u[len(base):]]) for u in left])

    written = [("http://example.org" + path, p) for path, p in pages.items()]
    written += [("http://resource/", articles.guide("en")[-1]), ("http://conversion/", articles.guide("zh_CN")[-1])]
    archives = []
    for version, packed in (("1.0", False), ("1.0", True), ("1.1", False), ("1.1", True)):
        archives.append(by_warcio(f"w{version[-1]}.warc" + (".gz" if packed else ""), site, version, packed))
    records = records_of("w1.warc.gz")
    dictionary = zstandard.train_dictionary(8 << 10, [r[:2000] for r in records * 5])
    archives.append(as_zstd("w1.warc.zst", "w1.warc.gz"))
    archives.append(as_zstd("w1-dictionary.warc.zst", "w1.warc.gz", dictionary))
    archives.append(as_zstd("w1-packed-dictionary.warc.zst", "w1.warc.gz", dictionary, True))
    for name in archives:
        check_texts(firstseen, name, written)

    def copies_in(prefix):
        return [(prefix + "/copy", prefix + "/plain"), (prefix + "/again", prefix + "/gbk")]

    check_dedup(firstseen, "one crawl", [first], len(pages), copies_in(base))
    twice = [(base + p, base + {"/copy": "/plain", "/again": "/gbk"}.get(p, p)) for p in pages]
    check_dedup(firstseen, "two crawls", [first, plain, second], 2 * len(pages) + len(left), copies_in(base) + twice + [(u, u) for u in left])
    check_dedup(firstseen, "by warcio", ["w1.warc.gz"], len(written), copies_in("http://example.org"))
    check_dedup(firstseen, "not packed", ["w0.warc"], len(written), copies_in("http://example.org"))
    for name in ("w1.warc.gz", "first.warc.gz", "w1.warc.zst"):
        check_damage(firstseen, name)
    print("all as expected" if not faults else f"{len(faults)} faults", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
