"""One article on the pages of two sites, through the whole program: the pages of
`go run ./bench pages` in web archives, read by firstseen dedup.

    go run ./bench pages -write PAGES CORPORA
    python skins.py FIRSTSEEN PAGES/*.jsonl

Each page is an answer of HTTP, every other one in gzip, every third chunked. Prints for each
set and --html how many of the articles' second pages are found, and false removals, as
`go run ./bench pages CORPORA` does of the same pages by itself.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def archive(path, pages):
    with open(path, "wb") as f:
        w = WARCWriter(f, gzip=True)
        for i, page in enumerate(pages):
            body = page["page"].encode()
            headers = [("Content-Type", "text/html; charset=utf-8")]
            if i % 2:
                body = gzip.compress(body)
                headers.append(("Content-Encoding", "gzip"))
            if i % 3 == 0:
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
                headers.append(("Transfer-Encoding", "chunked"))
            head = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            w.write_record(w.create_warc_record("http://example.org/" + page["id"], "response", payload=io.BytesIO(body), http_headers=head))


def figures(firstseen, path, pages, mode):
    """Second pages that were found with the first as the witness, and removals with the
    page of another article."""
    report = path + ".report"
    subprocess.run([firstseen, "dedup", "-q", "--html", mode, "--report", report, path], check=True)
    article = {"http://example.org/" + p["id"]: p["article"] for p in pages}
    removed = [(r["id"], r["of"]) for r in map(json.loads, open(report)) if not r["kept"]]
    found = sum(article[a] == article[b] for a, b in removed)
    return f"{found / len(set(article.values())):.1%} ({len(removed) - found})"


def main():
    firstseen = os.path.abspath(sys.argv[1])
    print("| pages | main | visible |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for path in sys.argv[2:]:
            pages = [json.loads(line) for line in open(path, encoding="utf-8")]
            name = os.path.basename(path).removesuffix(".jsonl")
            packed = os.path.join(directory, name + ".warc.gz")
            archive(packed, pages)
            print(f"| {name} | {figures(firstseen, packed, pages, 'main')} | {figures(firstseen, packed, pages, 'visible')} |")


if __name__ == "__main__":
    main()
