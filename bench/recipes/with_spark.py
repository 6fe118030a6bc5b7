"""with_spark.py SHARDS MARKS [MASTER]: the marks by Spark (PyPI: pyspark), local or on a cluster.

ROWS names a file of rows that are made already.
"""
import glob, os, shutil, subprocess, sys
from pyspark.sql import SparkSession

shards, marks = sys.argv[1:3]
master = sys.argv[3] if len(sys.argv) > 3 else "local[*]"
rows = os.path.abspath(os.environ.get("ROWS") or marks + ".rows.parquet")
if "ROWS" not in os.environ:
    subprocess.run(["firstseen", "bulk", "rows", shards, "--out", rows], check=True)
spark = (SparkSession.builder.master(master).appName("firstseen bulk marks")
         .config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "16").getOrCreate())
spark.read.parquet(rows).createOrReplaceTempView("places")
parts = os.path.abspath(marks + ".parts")
shutil.rmtree(parts, ignore_errors=True)
# LEFT SEMI JOIN is IN without its treatment of nulls. The parts are sorted, and in order.
spark.sql("""
SELECT CAST(v AS STRING) FROM
  (SELECT v FROM places LEFT SEMI JOIN
     (SELECT k FROM places GROUP BY k HAVING min(v) < max(v)) shared ON places.k = shared.k ORDER BY v)
""").write.text(parts)
spark.stop()
with open(marks, "wb") as out:
    for part in sorted(glob.glob(parts + "/part-*")):
        with open(part, "rb") as f:
            shutil.copyfileobj(f, out)
shutil.rmtree(parts)
