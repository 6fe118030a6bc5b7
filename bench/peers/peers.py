#!/usr/bin/env python3
"""peers.py datasketch|rensa THRESHOLD [letters] DOCS.jsonl[.gz]: removals of a peer, as lines "id<TAB>witness".

The first document of those that are alike is kept. Shingles are runs of five units; a unit
is a word or a CJK character, or, with letters, any character. Of datasketch a whole band in common is a copy; of rensa the
candidate with the best estimate, if that is THRESHOLD or more. Needs: pip install datasketch rensa
"""
import gzip
import json
import re
import sys

UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
PERMUTATIONS, WIDTH = 128, 5
LETTERS = "letters" in sys.argv[3:-1]


def shingles(text):
    units = " ".join(text.lower().split()) if LETTERS else UNIT.findall(text.lower())
    return sorted({" ".join(units[i : i + WIDTH]) for i in range(max(len(units) - WIDTH + 1, 1))})


def datasketch(docs, threshold):
    from datasketch import MinHash, MinHashLSH

    lsh, names = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS), {}
    for i, (name, text) in enumerate(docs):
        sketch = MinHash(PERMUTATIONS)
        sketch.update_batch([s.encode() for s in shingles(text)])
        found = lsh.query(sketch)
        if found:
            yield name, names[min(found)]
        else:
            names[i] = name
            lsh.insert(i, sketch)


def rensa(docs, threshold):
    from rensa import RMinHash, RMinHashLSH

    bands = {0.5: 32, 0.7: 16}.get(threshold, 16)
    lsh, kept = RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=bands), {}
    for i, (name, text) in enumerate(docs):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=42)
        sketch.update(shingles(text))
        found = [(-sketch.jaccard(kept[j][1]), j) for j in lsh.query(sketch)]
        if found and -min(found)[0] >= threshold:
            yield name, kept[min(found)[1]][0]
        else:
            kept[i] = name, sketch
            lsh.insert(i, sketch)


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            doc = json.loads(line)
            yield doc["id"], doc["text"]


if __name__ == "__main__":
    peer, threshold, path = sys.argv[1], sys.argv[2], sys.argv[-1]
    for name, witness in {"datasketch": datasketch, "rensa": rensa}[peer](read(path), float(threshold)):
        print(name, witness, sep="\t")
