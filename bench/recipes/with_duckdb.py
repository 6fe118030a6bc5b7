"""with_duckdb.py SHARDS MARKS: the marks by DuckDB (PyPI: duckdb). Memory and a folder for the rest are set.

ROWS names a file of rows that are made already.
"""
import os, subprocess, sys
import duckdb

shards, marks = sys.argv[1:]
rows = os.environ.get("ROWS") or marks + ".rows.parquet"
if "ROWS" not in os.environ:
    subprocess.run(["firstseen", "bulk", "rows", shards, "--out", rows], check=True)
db = duckdb.connect()
db.execute("SET preserve_insertion_order = false")
db.execute(f"SET temp_directory = '{marks}.spill'")
db.execute("SET memory_limit = '8GB'")
db.execute(f"""
COPY (SELECT v FROM '{rows}' WHERE k IN
        (SELECT k FROM '{rows}' GROUP BY k HAVING min(v) < max(v)) ORDER BY v)
TO '{marks}' (FORMAT parquet, COMPRESSION zstd)""")
