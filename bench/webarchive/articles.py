"""Articles to make pages of: the Debian installation guide of testdata/bilingual, and a few
paragraphs in other languages."""

import html
import json
import os
import re

GUIDE = os.path.join(os.path.dirname(__file__), "..", "..", "testdata", "bilingual", "guide.jsonl")

GERMAN = [
    "Ein Webarchiv bewahrt Seiten so, wie sie an einem bestimmten Tag über die Leitung kamen, mit allen Köpfen der Übertragung.",
    "Wer später nachliest, möchte die gleichen Bytes sehen; darum wird nichts daran geändert, auch wenn es fehlerhaft ist.",
    "Größere Sammlungen enthalten dieselbe Seite häufig: unter mehreren Adressen, an mehreren Tagen, in mehreren Hüllen.",
    "Für die Forschung zählt aber der Text, und der ist oft schon zehnmal da gewesen, bevor jemand darüber stolpert.",
    "Ein gutes Werkzeug nennt deshalb zu jeder Löschung die frühere Fassung, damit man sie überprüfen kann.",
]
RUSSIAN = [
    "Архив сети хранит страницы в том виде, в каком они пришли по проводу в определённый день, вместе со всеми заголовками.",
    "Тот, кто читает их позже, хочет увидеть те же самые байты; поэтому в них ничего не меняют, даже если там есть ошибки.",
    "В больших собраниях одна и та же страница встречается часто: под разными адресами, в разные дни, в разном оформлении.",
    "Для исследования важен текст, а он нередко был здесь уже десять раз, прежде чем кто-нибудь это заметит.",
    "Поэтому хороший инструмент называет для каждого удаления более раннюю запись, чтобы решение можно было проверить.",
    "Кодировка страницы при этом не должна играть никакой роли: буквы остаются теми же буквами, как бы их ни записали.",
]
JAPANESE = [
    "ウェブアーカイブは、ある日に通信路を流れてきたページを、すべてのヘッダーとともにそのまま保存するものです。",
    "後になって読む人は同じバイト列を見たいと思うので、たとえ誤りがあっても、その内容には手を加えません。",
    "大きなコレクションには、同じページが何度も現れます。別のアドレスで、別の日に、別のデザインで現れるのです。",
    "研究にとって大切なのは本文であり、それは誰かが気づくまでに十回も収集されていることが珍しくありません。",
    "したがって良い道具は、削除のたびに以前の文書の名前を挙げて、その判断を確かめられるようにします。",
]


def guide(language):
    """Articles of the guide, by paragraphs; language is "en" or "zh_CN"."""
    found = []
    for line in open(GUIDE, encoding="utf-8"):
        doc = json.loads(line)
        if not doc["id"].startswith("amd64/" + language):
            continue
        parts = [" ".join(p.split()) for p in doc["text"].split("\n")]
        parts = [p for p in parts if len(p) >= (120 if language == "en" else 50)][:8]
        if sum(map(len, parts)) >= (600 if language == "en" else 250):
            found.append(parts)
    return found


def squeezed(text):
    return re.sub(r"\s+", "", text)


def page(title, paragraphs, meta="", doctype="<!DOCTYPE html>"):
    """A page of a site: menu, article, imprint."""
    body = "\n".join(f"<p>{html.escape(p, quote=False)}</p>" for p in paragraphs)
    menu = "".join(f'<li><a href="/{i}">Menu {i}</a></li>' for i in range(8))
    return (f"{doctype}\n<html><head>{meta}<title>{html.escape(title)}</title></head>\n<body><ul>{menu}</ul>\n"
            f"<div><h1>{html.escape(title)}</h1>\n{body}\n</div>\n<p>Imprint</p></body></html>\n")
