"""with_clickhouse.py SHARDS MARKS: the marks by ClickHouse in the process (PyPI: chdb).

ROWS names a file of rows that are made already.
"""
import os, subprocess, sys
import chdb

shards, marks = sys.argv[1:]
rows = os.environ.get("ROWS") or marks + ".rows.parquet"
if "ROWS" not in os.environ:
    subprocess.run(["firstseen", "bulk", "rows", shards, "--out", rows], check=True)
found = chdb.query(f"""
SELECT v FROM file('{rows}', Parquet) WHERE k IN
  (SELECT k FROM file('{rows}', Parquet) GROUP BY k HAVING min(v) < max(v)) ORDER BY v
SETTINGS max_bytes_before_external_group_by = 2000000000, max_bytes_before_external_sort = 2000000000""", "TSV")
with open(marks, "wb") as out:
    out.write(found.bytes())
