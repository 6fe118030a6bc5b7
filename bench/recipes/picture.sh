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
hidden='nav, .plots, #thresholds, #most, #list, article ~ article, #examples h3, .cards div:nth-child(n+6) { display: none !important } main > section:not([id]) { display: none } body { padding-top: .5rem; padding-bottom: 0 } section { margin-top: 1.4rem !important; padding-top: 0 !important } h2 { margin-top: .6rem !important } .both { max-height: 17rem; overflow: hidden }'
sed "s|</style>|$hidden</style>|" page.html > picture.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1010 --screenshot=picture.png "file://$work/picture.html" 2>/dev/null
cp picture.png "$out"
