"""A site whose answers are as awkward as those of the web: every encoding of bodies and of
texts, redirects, errors, pages that are copies of others."""

import gzip
import http.server
import threading
import zlib

import brotli
import zstandard

import articles


class Answer:
    """What is answered at a path; paragraphs are those of its article, None where it is no
    document."""

    def __init__(self, paragraphs, body, headers=(), status=200, chunked=False):
        self.paragraphs, self.body, self.status, self.chunked = paragraphs, body, status, chunked
        self.headers = dict(headers)


def raw_deflate(data):
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return z.compress(data) + z.flush()


def answers():
    """By path. Every document has an article of its own, but for /copy and /again."""
    english, chinese = iter(articles.guide("en")), iter(articles.guide("zh_CN"))
    site = {}

    def add(path, paragraphs, encoding="utf-8", mime="text/html; charset=utf-8", meta="", pack=None, coding=None, chunked=False, doctype="<!DOCTYPE html>"):
        body = articles.page("Title of " + path[1:], paragraphs, meta, doctype).encode(encoding)
        headers = {"Content-Type": mime} if mime else {}
        if coding:
            headers["Content-Encoding"] = coding
        site[path] = Answer(paragraphs, pack(body) if pack else body, headers, chunked=chunked)

    add("/plain", next(english))
    add("/chunked", next(english), chunked=True)
    add("/gzip", next(english), pack=gzip.compress, coding="gzip")
    add("/gzip-chunked", next(english), pack=gzip.compress, coding="gzip", chunked=True)
    add("/x-gzip", next(chinese), pack=gzip.compress, coding="x-gzip")
    add("/brotli", next(english), pack=brotli.compress, coding="br")
    add("/brotli-chunked", next(chinese), pack=brotli.compress, coding="br", chunked=True)
    add("/deflate", next(english), pack=zlib.compress, coding="deflate")
    add("/deflate-raw", next(english), pack=raw_deflate, coding="deflate")
    add("/deflate-chunked", next(chinese), pack=zlib.compress, coding="deflate", chunked=True)
    add("/zstd", next(english), pack=zstandard.ZstdCompressor().compress, coding="zstd")
    add("/gzip-brotli", next(chinese), pack=lambda b: brotli.compress(gzip.compress(b)), coding="gzip, br")
    add("/not-gzip", next(english), coding="gzip")
    add("/not-brotli", next(chinese), coding="br")
    add("/not-deflate", next(english), coding="deflate")
    add("/no-type", next(english), mime=None)
    add("/xhtml", next(chinese), mime="application/xhtml+xml", doctype='<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>')
    add("/latin-1", articles.GERMAN, "latin-1", "text/html; charset=iso-8859-1")
    add("/gbk", next(chinese), "gb18030", "text/html; charset=gbk")
    add("/gb2312-in-meta", next(chinese), "gb18030", "text/html", '<meta http-equiv="Content-Type" content="text/html; charset=gb2312">')
    add("/gbk-beside-latin-1", next(chinese), "gb18030", "text/html; charset=ISO-8859-1", "<meta charset=gbk>")
    add("/gbk-undeclared", next(chinese), "gb18030", "text/html")
    add("/shift-jis", articles.JAPANESE, "cp932", "text/html; charset=Shift_JIS")
    add("/utf-16le", next(chinese), "utf-16", "text/html")
    add("/utf-16be", next(chinese), "utf-16-be", "text/html; charset=utf-16be")
    add("/koi8-r", articles.RUSSIAN, "koi8-r", "text/html; charset=koi8-r")
    add("/utf-8-beside-latin-1", next(chinese), "utf-8", "text/html; charset=iso-8859-1")

    text = next(english)
    site["/plain.txt"] = Answer(text, "\n\n".join(text).encode(), {"Content-Type": "text/plain"})
    site["/copy"] = Answer(site["/plain"].paragraphs, site["/plain"].body, {"Content-Type": "text/html"})
    again = list(reversed(site["/gbk"].paragraphs))
    add("/again", again)

    page = articles.page("Nowhere", ["This page tells in a few more words than needed that there is nothing."]).encode()
    site["/missing"] = Answer(None, page, {"Content-Type": "text/html"}, 404)
    site["/broken"] = Answer(None, page, {"Content-Type": "text/html"}, 500)
    site["/moved"] = Answer(None, page, {"Content-Type": "text/html", "Location": "/plain"}, 301)
    site["/found"] = Answer(None, b"", {"Location": "/gbk"}, 302)
    site["/nothing"] = Answer(None, b"", {}, 204)
    site["/image.png"] = Answer(None, b"\x89PNG\r\n\x1a\n" + bytes(500), {"Content-Type": "image/png"})
    site["/data.json"] = Answer(None, b'{"text": "no page"}', {"Content-Type": "application/json"})
    site["/script.js"] = Answer(None, b"var page = '<html>';", {"Content-Type": "application/javascript"})
    site["/warc.bin"] = Answer(None, b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\nabcde\r\n\r\n", {"Content-Type": "application/octet-stream"})
    return site


def serve(site):
    """Serves in the background, and returns the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            answer = site.get(self.path) or site["/missing"]
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for i in range(0, len(answer.body), 700):
                    piece = answer.body[i:i + 700]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")
                return
            if answer.status != 204:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
