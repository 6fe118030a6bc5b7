#!/bin/sh
# picture.sh FIRSTSEEN OUT.png: the picture of README.md, from the page of the example corpus. Needs chromium.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
guide=$(cd "$(dirname "$0")/../.." && pwd)/testdata/bilingual/guide.jsonl
out=$(realpath "$2")
cd "$work"
cp "$guide" guide.jsonl
"$1" dedup -q --out kept.jsonl --report dups.jsonl guide.jsonl
"$1" report show --html page.html --input guide.jsonl dups.jsonl
# The picture has the head, the map and the first two examples.
hidden='nav, noscript, #list, #all, .two, h3, #course, #sure, #most, #examples + p ~ p, body > .wide:not(:has(.map)), #sure ~ p:not(#examples + p) { display: none !important } .example ~ .example ~ .example { display: none } .sides { max-height: 17rem; overflow: hidden } body { padding-bottom: 0 } h2 { margin-top: 1.6rem }'
sed "s|</style>|$hidden</style>|" page.html > picture.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1010 --screenshot=picture.png "file://$work/picture.html" 2>/dev/null
cp picture.png "$out"
