"""WACZ: crawls of the awkward site are packed by the reference implementation (pip install
wacz) and by zip, read by firstseen, and held against what zipfile and warcio find in them:
the documents in their order, which are those of the archives by themselves.

python bench/webarchive/wacz.py FIRSTSEEN DIR
"""

import io
import json
import os
import subprocess
import sys
import zipfile

from warcio.archiveiterator import ArchiveIterator

import awkward
import crawl

faults = []


def expect(true, what):
    if not true:
        faults.append(what)
        print("WRONG:", what, file=sys.stderr)


def texts(firstseen, *names):
    p = subprocess.run([firstseen, "texts", *names], capture_output=True, text=True)
    return [(d["id"], d["text"], d.get("time")) for d in map(json.loads, p.stdout.splitlines())], p.returncode, p.stderr


def responses(name):
    """URIs of the answers that may be documents, as zipfile and warcio read them."""
    found = []
    with zipfile.ZipFile(name) as z:
        for entry in z.namelist():
            if not entry.startswith("archive/") or ".warc" not in entry:
                continue
            for r in ArchiveIterator(io.BytesIO(z.read(entry))):
                uri = (r.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
                if r.rec_type in ("response", "resource", "conversion") and not uri.startswith("metadata:"):
                    found.append((uri, r.rec_headers.get_header("WARC-Date")[:19]))
    return found


def check(firstseen, name, archives):
    docs, code, err = texts(firstseen, name)
    want, _, _ = texts(firstseen, *archives)
    expect(code == 0, f"{name}: exit {code}: {err[:200]}")
    expect(docs == want, f"{name}: {len(docs)} documents, of the archives {len(want)}")
    there = responses(name)
    at = 0
    for uri, _, time in docs:
        while at < len(there) and there[at] != (uri, time[:19]):
            at += 1
        expect(at < len(there), f"{name}: {uri} at {time} is not in the order of warcio's")
        at += 1
    print(f"| {name} | {len(archives)} | {len(there)} | {len(docs)} |")
    return docs


def main():
    firstseen, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    site = awkward.answers()
    base = awkward.serve(site)
    paths = [p for p in site if p not in ("/moved", "/found")]
    first = crawl.wget("a1", base, paths)
    plain = crawl.wget("a2", base, paths, "--no-warc-compression")
    crawl.by_warcio("a3.warc.gz", site, "1.1", True)
    # The reference implementation fails on bodies of brotli.
    some = {p: a for p, a in site.items() if "br" not in a.headers.get("Content-Encoding", "")}
    few = crawl.wget("a4", base, [p for p in paths if p in some])
    crawl.by_warcio("a5.warc.gz", some, "1.1", True)
    print("| file | archives | answers, by zipfile and warcio | documents |\n|---|---|---|---|")
    tool = os.path.join(os.path.dirname(sys.executable), "wacz")
    for name, archives, flags in (("one.wacz", [few], []), ("pages.wacz", [few, "a5.warc.gz"], ["--detect-pages"])):
        p = subprocess.run([tool, "create", "-o", name, *flags, *archives], capture_output=True, text=True)
        expect(p.returncode == 0, f"wacz create {name}: {p.stderr[-300:]}")
        check(firstseen, name, archives)
    for name, method, level in (("stored.wacz", zipfile.ZIP_STORED, None), ("deflated.wacz", zipfile.ZIP_DEFLATED, 9)):
        with zipfile.ZipFile(name, "w", method, compresslevel=level) as z:
            z.writestr("datapackage.json", '{"profile": "data-package"}')
            for archive in (first, plain, "a3.warc.gz"):
                z.write(archive, "archive/" + archive)
            z.writestr("indexes/index.cdx.gz", b"\x1f\x8b no index")
        check(firstseen, name, [first, plain, "a3.warc.gz"])
    with zipfile.ZipFile("streamed.wacz", "w") as z:  # sizes behind the entries
        z.writestr("datapackage.json", "{}")
        with z.open("archive/a1.warc.gz", "w", force_zip64=True) as f:
            f.write(open(first, "rb").read())
    check(firstseen, "streamed.wacz", [first])

    whole = texts(firstseen, few)[0]
    raw = open("one.wacz", "rb").read()
    middle = raw.index(b"archive/") + len(open(few, "rb").read()) // 2
    with open("flipped.wacz", "wb") as f:
        f.write(raw[:middle] + bytes([raw[middle] ^ 0x10]) + raw[middle + 1:])
    docs, code, err = texts(firstseen, "flipped.wacz")
    expect(code == 3 and len(docs) >= len(whole) - 1, f"flipped.wacz: exit {code}, {len(docs)} of {len(whole)} documents: {err[:200]}")
    with open("cut.wacz", "wb") as f:
        f.write(raw[:middle])
    docs, code, err = texts(firstseen, "cut.wacz")
    expect(code != 0 and "cut.wacz" in err, f"cut.wacz: exit {code}: {err[:200]}")
    print("cut.wacz:", err.strip()[:200], file=sys.stderr)
    print("all as expected" if not faults else f"{len(faults)} faults", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
