"""Writes the files of corpus/parquet/testdata, and what they hold.

    python3 -m venv venv && venv/bin/pip install pyarrow polars duckdb pytz
    venv/bin/python bench/parquet/fixtures.py corpus/parquet/testdata
"""

import json
import os
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

N = 20


def text(i):
    if i == 5:
        return None
    if i in (7, 13):  # copies
        return text(2)
    if i == 8:
        return ""
    return f"Row {i} 第{i}行 has a sentence of its own; and {i * 7919} is a number that it tells."


table = pa.table({
    "n": pa.array(range(N), pa.int32()),
    "meta": pa.array([{"url": f"http://e/{i}", "tags": [str(k) for k in range(i % 3)] if i % 5 else None} if i % 7 else None for i in range(N)]),
    "text": pa.array([text(i) for i in range(N)]),
    "id": pa.array([f"id{i}" if i % 6 else None for i in range(N)]),
    "emb": pa.array([[k / 4 for k in range(i % 4)] for i in range(N)], pa.list_(pa.float32())),
    "b": pa.array([i % 3 == 0 if i % 4 else None for i in range(N)]),
    "u": pa.array([2**63 + i for i in range(N)], pa.uint64()),
}).replace_schema_metadata({"huggingface": '{"info":{"features":{}}}'})


def main(into):
    os.makedirs(into, exist_ok=True)

    def arrow(name, **options):
        pq.write_table(table, os.path.join(into, f"pyarrow-{name}.parquet"), store_schema=False, **options)

    arrow("zstd-crc", compression="zstd", row_group_size=9, write_page_checksum=True)
    arrow("lz4-v2", compression="lz4", data_page_version="2.0", row_group_size=8)
    arrow("brotli", compression="brotli", use_dictionary=False)
    arrow("gzip-small-pages", compression="gzip", data_page_size=64, write_batch_size=2, use_dictionary=False)
    arrow("delta", compression="none", use_dictionary=False, column_encoding={
        "n": "DELTA_BINARY_PACKED", "text": "DELTA_LENGTH_BYTE_ARRAY", "id": "DELTA_BYTE_ARRAY",
        "u": "BYTE_STREAM_SPLIT", "b": "RLE", "meta.url": "DELTA_BYTE_ARRAY", "emb.list.element": "BYTE_STREAM_SPLIT"})
    frame = pl.from_arrow(table)
    for codec in ("lz4", "zstd"):
        frame.write_parquet(os.path.join(into, f"polars-{codec}.parquet"), compression=codec, row_group_size=7)
    con = duckdb.connect()
    con.register("t", table)
    for codec, version in (("lz4_raw", "V1"), ("snappy", "V2"), ("zstd", "V2")):
        con.execute(f"copy t to '{into}/duckdb-{codec}.parquet' (format parquet, compression {codec}, parquet_version '{version}')")
    with open(os.path.join(into, "want.jsonl"), "w") as f:
        for row in table.select(["n", "id", "text"]).to_pylist():
            f.write(json.dumps(row, ensure_ascii=False) + "\n")


main(sys.argv[1])
