#!/bin/sh
# crawlers.sh [HOWTO]: one firstseen serve, asked by a Scrapy spider, Java, curl and nc, as docs/howto.md has
# them. A site of 300 pages, 60 of them copies, is crawled twice. PYTHON needs scrapy and requests. A tool that is missing is
# named and left out.
set -eu
howto=$(realpath "${1:-docs/howto.md}")
python=${PYTHON:-python3}
dir=$(mktemp -d)
cd "$dir"
firstseen serve --index seen --listen 127.0.0.1:8080 --listen "unix:$dir/http.sock" --lines "unix:$dir/lines.sock" 2> server.log &
server=$!
trap 'kill $server; wait $server; rm -rf "$dir"' EXIT
until curl -sf http://127.0.0.1:8080/readyz > /dev/null; do sleep .1; done

# block LANGUAGE WORD: the block of the how-to in a language that has a word.
block() {
    awk -v lang="$1" -v word="$2" '$0 == "```" lang {on = 1; text = ""; next} on && $0 == "```" {if (index(text, word)) printf "%s", text; on = 0} on {text = text $0 "\n"}' "$howto"
}
same() { [ "$2" = "$3" ] || { echo "$1: $2, want $3"; exit 1; }; echo "$1: $2"; }

if "$python" -c 'import scrapy, requests' 2> /dev/null; then
    block python SeenBefore > seen_before.py
    mkdir site
    "$python" - <<'PY'
import random
rng, texts = random.Random(1), []
words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(3000)]
for i in range(300):
    if i % 5 == 4:
        text = rng.choice(texts[:-1]).replace(",", " ,", 1)
    else:
        text = ", ".join(" ".join(rng.choices(words, k=8)) for _ in range(12))
        texts.append(text)
    open(f"site/{i}.html", "w").write(f"<html><title>{i}</title><p>{text}.</p></html>")
open("site/index.html", "w").write("".join(f'<a href="{i}.html">{i}</a> ' for i in range(300)))
PY
    cat > spider.py <<'PY'
import scrapy


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = ["http://127.0.0.1:8081/index.html"]
    custom_settings = {"ITEM_PIPELINES": {"seen_before.SeenBefore": 1}, "LOG_LEVEL": "ERROR"}

    def parse(self, response):
        if response.url.endswith("index.html"):
            yield from response.follow_all(css="a")
        else:
            yield {"url": response.url, "text": response.css("p::text").get()}
PY
    "$python" -m http.server 8081 --bind 127.0.0.1 --directory site > /dev/null 2>&1 &
    site=$!
    sleep 1
    PYTHONPATH=$dir "$python" -m scrapy runspider spider.py -o first.jsonl 2> scrapy.log
    same "Scrapy, items kept of 300" "$(wc -l < first.jsonl)" 240
    PYTHONPATH=$dir "$python" -m scrapy runspider spider.py -o second.jsonl 2>> scrapy.log
    same "Scrapy again, items kept (answered again)" "$(wc -l < second.jsonl)" 240
    kill $site
else
    echo "Scrapy: left out, $python has no scrapy or requests"
fi

text='The harbour master keeps a list of every boat, with its length and its flag; in winter most of them leave.'
printf '{"id":"one","text":"%s"}\n{"id":"two","text":"%s"}\n' "$text" "$text" > pages.jsonl
curl -s --unix-socket http.sock --data-binary @pages.jsonl http://localhost/v1/see > curl.out
same "curl, verdicts" "$(grep -o '"verdict":"[a-z]*"' curl.out | tr '\n' ' ')" '"verdict":"unique" "verdict":"duplicate" '

if command -v nc > /dev/null; then
    sed 's/"two"/"three"/' pages.jsonl | nc -N -U lines.sock > nc.out
    same "nc, of the copy" "$(tail -1 nc.out | grep -o '"of":"[a-z]*"')" '"of":"one"'
else
    echo "nc: left out"
fi

if command -v java > /dev/null; then
    {
        echo 'import java.net.URI; import java.net.http.*; import java.nio.file.*;'
        echo 'public class See { public static void main(String[] a) throws Exception { String lines = Files.readString(Path.of("pages.jsonl"));'
        block java HttpRequest
        echo 'System.out.print(answers); } }'
    } > See.java
    same "Java, of the copies" "$(java See.java | grep -c '"verdict":"duplicate"')" 1
else
    echo "Java: left out"
fi
