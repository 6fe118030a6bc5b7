#!/bin/sh
# spark_cluster.sh SHARDS MARKS: the marks by Spark on a standalone cluster, a master and two workers, that
# this script starts and stops. PYTHON names the interpreter that has pyspark.
set -eu
python=${PYTHON:-python3}
home=$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
here=$(dirname "$0")
port=${SPARK_PORT:-17077}
work=$(mktemp -d)
export SPARK_LOCAL_IP=127.0.0.1 SPARK_WORKER_DIR="$work"
"$home/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 2> "$work/master" &
started=$!
trap 'kill $started 2> /dev/null; wait; rm -rf "$work"' EXIT
sleep 5
for worker in 1 2; do
    "$home/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 --cores 1 --memory 2g \
        "spark://127.0.0.1:$port" 2> "$work/worker$worker" &
    started="$started $!"
done
"$python" "$here/with_spark.py" "$1" "$2" "spark://127.0.0.1:$port"
