"""Fingerprints by the reference implementation of SimHash, for the method simhash.

    python3 -m venv ref && ref/bin/pip install simhash xxhash
    ref/bin/python bench/reference/fingerprints.py > feature/testdata/reference.json

Weights of more than 255 overflow in it. The terms are told here by hand: of these texts, words between spaces and punctuation in
small letters, and of Chinese characters side by side each two.
"""
import json
import random
import re
import sys

import xxhash
from simhash import Simhash

TEXTS = [
    "The ferry leaves the harbour at seven, and returns long after nightfall, when the market has closed.",
    "The ferry leaves the harbour at eight, and returns long after nightfall, when the market has closed.",
    "老周的茶馆开在南门外的河边，门口没有招牌。",
    "老周的茶馆开在北门外的河边，门口没有招牌。",
    "He said 茶馆 is a teahouse; 她说 hello, 再见。一 two 三四 five",
    "one",
    "one two",
    "茶",
    "a a a a b",
]


def terms(text):
    for stretch in re.split(r"[\s，。,;.]+", text.lower()):
        for word in re.findall(r"[一-鿿]+|[^一-鿿]+", stretch):
            if not re.match(r"[一-鿿]", word):
                yield word
            elif len(word) == 1:
                yield word
            else:
                for i in range(len(word) - 1):
                    yield word[i : i + 2]


def weighted(text):
    counts = {}
    for term in terms(text):
        counts[term] = counts.get(term, 0) + 1
    return counts


def fingerprint(features):
    return "%016x" % Simhash(list(features.items()), hashfunc=xxhash.xxh3_64_intdigest).value


rng = random.Random(12)
vectors = [{"text": t, "terms": weighted(t), "fingerprint": fingerprint(weighted(t))} for t in TEXTS]
for n in (1, 2, 3, 10, 100, 300):
    features = {"term%d" % rng.randrange(10**6): rng.choice([1, 1, 2, 7, 49, 50, 51, 200, 255]) for _ in range(n)}
    vectors.append({"terms": features, "fingerprint": fingerprint(features)})
json.dump(vectors, sys.stdout, ensure_ascii=False, indent=0)
print()
