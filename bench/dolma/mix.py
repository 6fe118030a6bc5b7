"""Mixes with dolma by the attributes that firstseen report attributes writes, and compares
what comes out with what firstseen keeps: ids and texts.

    pip install dolma            # 1.2.1; its mixer alone: pip install --no-deps dolma
    python bench/dolma/mix.py FIRSTSEEN DOCUMENTS

DOCUMENTS is a folder of .jsonl.gz files, at any depth, each line with "id" and "text" and no
line that is not JSON: the mixer stops at those. It is copied, as dolma wants a path with
/documents/ in it. The second mixing takes the shared passages out of related documents, as
spans in characters: of each, what is left must be the text without them.
"""

import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def mixer():
    """The entry point of dolma's mixer: without the rest of dolma, which takes much more."""
    spec = importlib.util.find_spec("dolma")
    for folder in spec.submodule_search_locations:
        for file in pathlib.Path(folder).glob("dolma.*.so"):
            loader = importlib.machinery.ExtensionFileLoader("dolma.dolma", str(file))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dolma.dolma", loader))
            loader.exec_module(module)
            return module.mixer_entrypoint
    raise SystemExit("dolma has no mixer here")


def lines(folder):
    for path in sorted(pathlib.Path(folder).rglob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                yield json.loads(line)


def mix(mix_entrypoint, root, name, **stream):
    out = f"{root}/{name}"
    os.makedirs(out)
    for work in ("in", "out"):
        os.makedirs(f"{root}/mixing/{work}", exist_ok=True)
    mix_entrypoint(json.dumps({
        "processes": 1,
        "work_dir": {"input": f"{root}/mixing/in", "output": f"{root}/mixing/out"},
        "streams": [{
            "name": name, "documents": [f"{root}/documents/**/*.gz"], "attributes": ["firstseen"],
            "output": {"path": out, "max_size_in_bytes": 1 << 30}, **stream,
        }],
    }))
    return sorted((d["id"], d["text"]) for d in lines(out))


def main(firstseen, documents):
    root = os.path.realpath(tempfile.mkdtemp())
    shutil.copytree(documents, f"{root}/documents")
    kept = f"{root}/kept.jsonl.gz"
    subprocess.run([firstseen, "dedup", "-q", "--out", kept, "--report", f"{root}/dups.jsonl",
                    "--spans", f"{root}/documents"], check=True)
    subprocess.run([firstseen, "report", "attributes", "--out", f"{root}/attributes/firstseen",
                    f"{root}/dups.jsonl", f"{root}/documents"], check=True)
    entry = mixer()
    removed = "$.attributes[?(@.firstseen__removed && @.firstseen__removed[0])]"
    mixed = mix(entry, root, "mixed", filter={"include": [], "exclude": [removed]})
    with gzip.open(kept, "rt", encoding="utf-8") as f:
        ours = sorted((d["id"], d["text"]) for d in map(json.loads, f))
    total = sum(1 for _ in lines(f"{root}/documents"))
    print(f"{total} documents: firstseen keeps {len(ours)}, dolma mixes {len(mixed)}, equal: {ours == mixed}")

    cut = mix(entry, root, "cut", span_replacement=[
        {"span": "$.attributes.firstseen__shared", "min_score": 0.5, "replacement": ""}])
    expected, touched = [], 0
    rows = lines(f"{root}/attributes/firstseen")
    for d, row in zip(lines(f"{root}/documents"), rows, strict=True):
        text, spans = d["text"], row["attributes"].get("firstseen__shared", [])
        for start, end, _ in reversed(spans):
            text = text[:start] + text[end:]
        touched += bool(spans)
        expected.append((d["id"], text))
    right = cut == sorted(expected)
    print(f"shared passages taken out of {touched} documents, equal: {right}")
    shutil.rmtree(root)
    return ours == mixed and right


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
