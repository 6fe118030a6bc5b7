"""How estimates of the Jaccard similarity by the Python package datasketch spread, beside
those of the method shingles, which TestEstimate of feature/shingles tells with -v.

    python3 -m venv ref && ref/bin/pip install datasketch
    ref/bin/python bench/reference/minhash.py
"""
import math

from datasketch import MinHash

PAIRS, WORDS = 300, 1000


def signature(start):
    m = MinHash(num_perm=128)
    m.update_batch([b"w%d" % i for i in range(start, start + WORDS)])
    return m


for common in (250, 500, 700, 900):
    jaccard = common / (2 * WORDS - common)
    estimates = [signature(i * 10_000).jaccard(signature(i * 10_000 + WORDS - common)) for i in range(PAIRS)]
    spread = math.sqrt(sum((e - jaccard) ** 2 for e in estimates) / PAIRS)
    print("Jaccard %.3f: mean %.4f, spread %.4f" % (jaccard, sum(estimates) / PAIRS, spread))
