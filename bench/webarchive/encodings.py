"""One text in many encodings, each as a page in a web archive: all are to be copies of the
one in UTF-8.

    python encodings.py FIRSTSEEN DIR

Three texts, as no encoding has the letters of all languages. Each page comes once with the
encoding told by the header, once by a meta element and once by nobody. The page in UTF-8 is
the first. Prints a row for each encoding and ends with 1 where one that is told, or has a
mark, is no exact copy.
"""

import io
import json
import os
import subprocess
import sys

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import articles

# The label that is told, the codec of Python, and bytes before the text. The label is
# empty for what tells itself.
UNICODE = [
    ("utf-8", "utf-8", b""), ("", "utf-8-sig", b""), ("", "utf-16-le", b"\xff\xfe"), ("", "utf-16-be", b"\xfe\xff"),
    ("utf-16le", "utf-16-le", b""), ("utf-16be", "utf-16-be", b""), ("", "utf-32-le", b"\xff\xfe\0\0"), ("", "utf-32-be", b"\0\0\xfe\xff"),
    ("gb18030", "gb18030", b""),
]
ASIAN = [("gbk", "gbk", b""), ("gb2312", "gb2312", b""), ("shift_jis", "cp932", b""), ("euc-jp", "euc_jp", b""),
         ("iso-2022-jp", "iso2022_jp", b""), ("hz-gb-2312", "hz", b""), ("euc-kr", "euc_kr", b""), ("big5", "big5hkscs", b"")]
CYRILLIC = [("koi8-r", "koi8_r", b""), ("koi8-u", "koi8_u", b""), ("windows-1251", "cp1251", b""), ("iso-8859-5", "iso8859_5", b""),
            ("ibm866", "cp866", b""), ("x-mac-cyrillic", "mac_cyrillic", b"")]
WESTERN = [("iso-8859-1", "latin-1", b""), ("windows-1252", "cp1252", b""), ("iso-8859-15", "iso8859_15", b""), ("iso-8859-2", "iso8859_2", b""),
           ("windows-1250", "cp1250", b""), ("windows-1254", "cp1254", b""), ("macintosh", "mac_roman", b"")]


def encodable(paragraphs, codec):
    """The first six of paragraphs that have no letter that an encoding lacks."""
    return [p for p in paragraphs if p.encode(codec, "ignore").decode(codec) == p][:6]


TEXTS = [
    ("Russian", articles.RUSSIAN, UNICODE + ASIAN + CYRILLIC),
    ("Chinese", encodable(sum(articles.guide("zh_CN"), []), "gb2312"), UNICODE + ASIAN),
    ("Japanese", articles.JAPANESE, UNICODE + ASIAN),
    ("German", articles.GERMAN, UNICODE + WESTERN),
]


def pages(paragraphs, encodings):
    """Ids, content types and bodies of pages; the first is UTF-8."""
    for label, codec, mark in encodings:
        for told in ("header", "meta", "nobody"):
            meta = f'<meta charset="{label}">' if told == "meta" and label else ""
            try:
                body = mark + articles.page("Title", paragraphs, meta).encode(codec)
            except UnicodeEncodeError:
                break  # it lacks letters of the text
            mime = f"text/html; charset={label}" if told == "header" and label else "text/html"
            name = label or codec + "+mark"
            yield f"http://{name}/{told}", mime, body
            if not label:
                break


def check(firstseen, language, paragraphs, encodings):
    archive, report = language + ".warc.gz", language + ".jsonl"
    ids = []
    with open(archive, "wb") as f:
        w = WARCWriter(f, gzip=True)
        for uri, mime, body in pages(paragraphs, encodings):
            head = StatusAndHeaders("200 OK", [("Content-Type", mime)], protocol="HTTP/1.1")
            w.write_record(w.create_warc_record(uri, "response", payload=io.BytesIO(body), http_headers=head))
            ids.append(uri)
    run = subprocess.run([firstseen, "dedup", "-q", "--report", report, archive], capture_output=True)
    exact = {r["id"] for r in map(json.loads, open(report)) if r["exact"] and r["of"] == ids[0]}
    exact.add(ids[0])
    names = list(dict.fromkeys(i.split("/")[2] for i in ids))
    faults = 0
    for name in names:
        row = []
        for told in ("header", "meta", "nobody"):
            uri = f"http://{name}/{told}"
            found = uri in exact
            row.append("" if uri not in ids else "copy" if found else "no")
            # What nobody tells may be guessed wrongly, but what is told counts; UTF-16 and
            # its like cannot tell themselves by meta, which a reader has to know already.
            faults += uri in ids and not found and told != "nobody"
        print(f"| {language} | {name} | " + " | ".join(row) + " |")
    print(f"{language}: {len(names)} encodings, {len(ids)} pages, {len(exact)} of one text, exit {run.returncode} {run.stderr.decode()}", file=sys.stderr)
    return faults


def main():
    firstseen, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    print("| text | encoding | told by the header | by meta | by nobody |\n|---|---|---|---|---|")
    sys.exit(1 if sum([check(firstseen, *t) for t in TEXTS]) else 0)


if __name__ == "__main__":
    main()
