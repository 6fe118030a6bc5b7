"""on_spark.py DIR: the job of DIR, see job.sh, on Spark (PyPI: pyspark), with the marks by its SQL:

    spark-submit --master yarn --deploy-mode client on_spark.py DIR
    spark-submit --master k8s://https://HOST:6443 --conf spark.kubernetes.container.image=IMAGE \
        --conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.mount.path=/data \
        --conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.options.claimName=CLAIM on_spark.py DIR

The driver and all executors see DIR and this folder under the same names. A step takes one processor. The driver
makes the decision, with all of its machine. Spark gives a failed task again (spark.task.maxFailures); what it
said is in the stderr of its executor. After a failure submit the job again: only what is missing is done.
"""
import glob, os, subprocess, sys
from pyspark.sql import SparkSession

here, folder = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(sys.argv[1])
with open(folder + "/inputs") as f:
    shards = sum(1 for _ in f)


def step(*words, **more):
    subprocess.run(["bash", here + "/job.sh", folder, *map(str, words)], check=True, env=os.environ | more)


def each(name):
    tasks = spark.sparkContext.parallelize(range(shards), shards)
    tasks.foreach(lambda i: step(name, i + 1, FIRSTSEEN_JOBS="1", PARTS=""))


spark = SparkSession.builder.appName("firstseen").getOrCreate()
each("features")
if not os.path.exists(folder + "/marks/_SUCCESS"):
    rows = ["file://" + name for name in glob.glob(folder + "/shards/[0-9]*/rows.parquet")]
    spark.read.parquet(*rows).createOrReplaceTempView("places")
    # LEFT SEMI JOIN is IN without its treatment of nulls.
    marks = spark.sql("""
        SELECT v FROM places LEFT SEMI JOIN
          (SELECT k FROM places GROUP BY k HAVING min(v) < max(v)) shared ON places.k = shared.k""")
    marks.sortWithinPartitions("v").write.mode("overwrite").parquet(f"file://{folder}/marks", compression="zstd")
step("decide")
each("kept")
