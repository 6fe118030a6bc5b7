"""Measures see() with an index on disk: 60 words a document, each fifth a near copy.

python packaging/python/tests/rate.py [DOCUMENTS, 1000000 by default]
"""

import random
import sys
import tempfile
import time

import firstseen

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000


def documents():
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10))) for _ in range(50_000)]
    for i in range(COUNT):
        if i % 5 == 4:
            words[30] = "edited"
        else:
            words = rng.choices(vocabulary, k=60)
            for comma in range(9, 60, 10):
                words[comma] += ","
        yield i, " ".join(words)


docs = list(documents())
with tempfile.TemporaryDirectory() as folder, firstseen.open(f"{folder}/seen", docs=COUNT) as fs:
    start = time.perf_counter()
    kept = sum(v.kept for v in fs.see(docs))
    seconds = time.perf_counter() - start
print(f"{COUNT} documents, {kept} kept, {seconds:.1f} s, {COUNT / seconds:.0f} a second")
