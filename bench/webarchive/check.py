"""Whether firstseen sees the documents that an independent reading of web archives has.

    python check.py FIRSTSEEN FILE...

Prints a table: for each file the documents expected and found, the bad records, the exit
code and how much of the text is right. It compares

  - ids and their order, bad records and the exit code (3 where there are any);
  - the page as it is (--html off) with its bytes, decoded by Python;
  - the article (--html main): that it is not empty, and that its runs of twelve
    characters stand in the text that Python's parser of HTML finds.

Ends with 1 where something is not as expected.
"""

import html.parser
import json
import logging
import re
import subprocess
import sys

import expected


class Visible(html.parser.HTMLParser):
    """All text of a page but that of scripts and styles, without white space."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style") and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def squeezed(text):
    return re.sub(r"\s+", "", text)


def visible(page):
    v = Visible()
    v.feed(page)
    v.close()
    return squeezed("".join(v.parts))


def decoded(body):
    """The text of a body: UTF-8 if it is, else what the page declares of itself."""
    if body[:3] == b"\xef\xbb\xbf":
        return body[3:].decode("utf-8")
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return body.decode("utf-16")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        pass
    found = re.search(rb"""charset\s*=\s*["']?\s*([\w-]+)""", body[:4096], re.I)
    name = found.group(1).decode().lower() if found else "cp1252"
    return body.decode({"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252"}.get(name, name), "replace")


def texts(firstseen, path, mode):
    run = subprocess.run([firstseen, "texts", "--html", mode, path], capture_output=True)
    bad = sum(line.startswith("firstseen: " + path + ":") for line in run.stderr.decode().splitlines())
    return [json.loads(line) for line in run.stdout.splitlines()], bad, run.returncode


def same(a, b):
    """Whether two texts are one, up to line ends behind it and faults of the encoding."""
    a, b = a.rstrip("\r\n"), b.rstrip("\r\n")
    if a == b:
        return True
    a, b = a.replace("\ufffd", ""), b.replace("\ufffd", "")
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b)) * 1000 < len(a)


def share(text, page):
    """The share of the text's lines, in pieces of twelve characters, that the page has."""
    lines = [squeezed(line) for line in text.splitlines()]
    runs = [line[i:i + 12] for line in lines for i in range(0, len(line), 12)]
    return sum(run in page for run in runs) / max(1, len(runs))


def check(firstseen, path):
    name = path.rsplit("/", 1)[-1]
    records, how = expected.read(path)
    docs = [r for r in records if not r.why_not()]
    want_bad = expected.DAMAGED.get(name, (0,))[0]
    pages, bad, code = texts(firstseen, path, "off")
    articles, _, _ = texts(firstseen, path, "main")
    faults = []
    if [d["id"] for d in pages] != [r.uri for r in docs]:
        faults.append("ids: " + str([d["id"] for d in pages]) + " for " + str([r.uri for r in docs]))
    if bad != want_bad or code != (3 if want_bad else 0):
        faults.append(f"{bad} bad, exit {code}")
    for record, page, article in zip(docs, pages, articles):
        text = decoded(record.body)
        if not same(page["text"], text):
            faults.append("another text: " + record.uri)
        found = share(article["text"], squeezed(text) if expected.media_type(record.mime) == "text/plain" else visible(text))
        if not article["text"].strip() or found < 0.98:
            faults.append(f"article of {record.uri}: {len(article['text'])} characters, {found:.1%} of it in the page")
    size = sum(len(a["text"]) for a in articles)
    print(f"| `{name}` | {len(docs)} | {len(pages)} | {want_bad} | {bad} | {code} | {size} | {how.split(': warcio')[0].split(': ')[0]} |")
    for fault in faults:
        print("!!", name, fault, file=sys.stderr)
    return not faults


def main():
    logging.disable(logging.CRITICAL)
    print("| file | documents | found | bad | found | exit | characters of articles | read by |")
    print("|---|---|---|---|---|---|---|---|")
    good = [check(sys.argv[1], path) for path in sys.argv[2:]]
    print(f"{sum(good)} of {len(good)} files as expected", file=sys.stderr)
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
