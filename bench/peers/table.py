#!/usr/bin/env python3
"""table.py FIRSTSEEN DIR SPEED.jsonl: firstseen beside rensa, datasketch and dolma, as README.md shows it.

DIR has the sets asysd, bln600_articles_dev and mucgec_zh, each with docs.jsonl.gz and either
clusters.tsv or labels.tsv, by others. A group of n documents should lose n - 1: "found" is the
share of these that are removed, "wrong" the number of removals without an earlier document of the
group. SPEED.jsonl measures documents a second of CPU, and the peak of memory.

Needs: pip install datasketch rensa; pip install --no-deps dolma
"""
import collections
import csv
import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SETS = {"asysd": "records of papers", "bln600_articles_dev": "scanned articles", "mucgec_zh": "Chinese sentences"}
SAME = {"same_paper", "same_item", "edited"}
PEERS = pathlib.Path(__file__).with_name("peers.py")


def groups(folder):
    """The group of each document: by its text, its cluster, or the pairs that are the same."""
    parent, first = {}, {}

    def find(x):
        while parent.setdefault(x, x) != x:
            x = parent[x]
        return x

    with gzip.open(folder / "docs.jsonl.gz", "rt") as lines:
        for d in map(json.loads, lines):
            parent[find(d["id"])] = find(first.setdefault(" ".join(d["text"].split()), d["id"]))
    if (folder / "clusters.tsv").exists():
        names = {}
        for row in csv.DictReader(open(folder / "clusters.tsv"), delimiter="\t"):
            parent[find(row["id"])] = find(names.setdefault(row["cluster"], row["id"]))
    else:
        for a, b, label, *_ in csv.reader(open(folder / "labels.tsv"), delimiter="\t"):
            if label in SAME or label.startswith("cer"):
                parent[find(a)] = find(b)
    return {x: find(x) for x in list(parent)}


def score(folder, removed):
    group = groups(folder)
    sizes, seen, right = collections.Counter(group.values()), set(), 0
    with gzip.open(folder / "docs.jsonl.gz", "rt") as lines:
        for d in map(json.loads, lines):
            g = group[d["id"]]
            right += d["id"] in removed and g in seen
            seen.add(g)
    return right / sum(n - 1 for n in sizes.values()), len(removed) - right


def measured(command):
    """Runs a command. Returns its output, CPU seconds and peak memory in MB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return out, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def firstseen(program):
    def run(path, folder):
        report = f"{folder}/report"
        _, cpu, memory = measured([program, "dedup", "-q", "-j", "1", "--out", os.devnull, "--report", report, path])
        return {r["id"] for r in map(json.loads, open(report)) if not r["kept"]}, cpu, memory
    return run


def peer(name):
    def run(path, _):
        out, cpu, memory = measured([sys.executable, PEERS, *name.split(), path])
        return {line.split("\t")[0] for line in out.splitlines()}, cpu, memory
    return run


def dolma(path, folder):
    """Paragraphs with half of their runs of five words seen; a document goes if they are half of it."""
    documents = pathlib.Path(folder, "documents", "0.jsonl.gz")
    documents.parent.mkdir()
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines, gzip.open(documents, "wt") as out:
        out.writelines(lines)
    _, cpu, memory = measured([sys.executable, __file__, "dolma", str(documents)])
    removed = set()
    with gzip.open(documents, "rt") as docs, gzip.open(str(documents).replace("/documents/", "/attributes/seen/"), "rt") as marks:
        for d, mark in zip(map(json.loads, docs), map(json.loads, marks), strict=True):
            spans = next(iter(mark["attributes"].values()), [])
            if spans and sum((to - at) * share for at, to, share in spans) >= 0.5 * len(d["text"]):
                removed.add(d["id"])
    return removed, cpu, memory


def run_dolma(documents):
    for folder in importlib.util.find_spec("dolma").submodule_search_locations:
        for file in pathlib.Path(folder).glob("dolma.*.so"):
            loader = importlib.machinery.ExtensionFileLoader("dolma.dolma", str(file))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dolma.dolma", loader))
            loader.exec_module(module)
    root = pathlib.Path(documents).parents[1]
    module.deduper_entrypoint(json.dumps({
        "documents": [documents], "processes": 1, "work_dir": {"input": f"{root}/in", "output": f"{root}/out"},
        "dedupe": {"name": "seen", "skip_empty": True, "min_length": 0, "min_words": 0, "num_partitions": 1, "partition_index": 0, "file_partition": False,
                   "document_dir": "documents", "paragraphs": {
            "paragraph_separator": "\n", "attribute_name": "seen", "by_ngram": {"ngram_length": 5, "stride": 0, "overlap_threshold": 0.5, "skip_short_paragraphs": False}}},
        "bloom_filter": {"file": f"{root}/filter", "read_only": False, "size_in_bytes": 0,
                         "estimated_doc_count": 30_000_000, "desired_false_positive_rate": 1e-4},
        "compression": {"input": "gz", "output": "gz"}, "is_s3_volume": False,
    }))


def main(program, sets, speed):
    count = sum(1 for _ in open(speed))
    rows = {"firstseen": (firstseen(program), "yes"), "rensa, five words .5": (peer("rensa 0.5"), "yes"),
            "datasketch, five words .5": (peer("datasketch 0.5"), "yes"),
            "datasketch, five letters .5": (peer("datasketch 0.5 letters"), "yes"), "dolma, five words .5": (dolma, "no")}
    print("| found / wrong | " + " | ".join(SETS.values()) + " | names the earlier one | documents a CPU second | peak memory |")
    print("|---|" + "---|" * (len(SETS) + 3))
    for name, (run, names) in rows.items():
        cells = []
        for s in SETS:
            folder = pathlib.Path(sets, s)
            with tempfile.TemporaryDirectory() as work:
                found, wrong = score(folder, run(str(folder / "docs.jsonl.gz"), work)[0])
            cells.append(f"{100 * found:.0f}% / {wrong}")
        with tempfile.TemporaryDirectory() as work:
            _, cpu, memory = run(speed, work)
        print(f"| {name} | {' | '.join(cells)} | {names} | {count / cpu:,.0f} | {memory:,.0f} MB |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "dolma":
        run_dolma(sys.argv[2])
    else:
        main(*sys.argv[1:])
