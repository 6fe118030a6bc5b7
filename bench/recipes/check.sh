#!/bin/bash
# check.sh DIR INPUT...: runs the recipes and jobs over the inputs, a shard each. Recipes run once more with a tenth of
# the rows twice. In jobs, each step is killed once. Each report must be that of one firstseen dedup, except for the
# fields that need the texts, and so must the kept records of jobs. DIR gets all files.
# Engines that $PYTHON lacks are left out; duckdb also makes the rows that come twice.
set -eu
mkdir -p "$1"
dir=$(realpath "$1") here=$(realpath "$(dirname "$0")")
shift
inputs=$(realpath "$@")
export PYTHON="${PYTHON:-python3}" TMPDIR="$dir"

# lines REPORT...: the lines without the fields that need the texts.
lines() {
    "$PYTHON" -c '
import json, sys
for name in sys.argv[1:]:
    for line in open(name):
        fields = json.loads(line)
        if "end" not in fields:
            print({name: value for name, value in fields.items() if name not in ("sample", "new", "shard")})' "$@"
}

# has NAME MODULE: whether $PYTHON has the module of a recipe.
has() {
    "$PYTHON" -c "import $2" 2> "$dir/words" || { echo "$1: left out, $PYTHON has no $2" && return 1; }
}

# check RECIPE: runs it, decides by its marks, and compares the reports.
check() {
    case $1 in *.py) run=$PYTHON ;; *) run=sh ;; esac
    "$run" "$here/$1" "$dir/features" "$dir/marks"
    firstseen bulk decide --marks "$dir/marks" -r "$dir/report.jsonl" "$dir/features" 2> "$dir/words"
    lines "$dir/report.jsonl" > "$dir/got"
    cmp "$dir/got" "$dir/want"
    echo "$1${ROWS:+, a tenth of the rows twice}: $(wc -l < "$dir/want") lines, each that of one run"
}

# job NAME COMMAND...: gives a job until it is done, at most five times, with a kill in each step.
job() {
    local job=$dir/$1 name=$1 tries=0
    shift
    mkdir -p "$job/state"
    echo "$inputs" > "$job/inputs"
    until [ -e "$job/kept" ] && [ "$(ls "$job/kept" | wc -l)" = "$shards" ]; do
        [ $((tries += 1)) -le 5 ]
        REAL=$PATH PATH=$here/testdata:$PATH CALLS=$job/calls SLURM=$job/state KILL="2/$shards bulk_marks bulk_decide report_apply" \
            "$@" "$job" > "$job/words.$tries" 2>&1 || true
    done
    lines "$job"/decided/*.jsonl > "$dir/got"
    cmp "$dir/got" "$dir/want"
    cat "$job"/kept/* | cmp - "$dir/one.kept"
    echo "$name, given $tries times, $(ls -d "$job"/calls.* | wc -l) steps killed: $(wc -l < "$dir/want") lines and $(wc -c < "$dir/one.kept") bytes, those of one run"
}

firstseen dedup -q -r "$dir/one.jsonl" -o "$dir/one.kept" $inputs
lines "$dir/one.jsonl" > "$dir/want"
shards=0
for input in $inputs; do
    shards=$((shards + 1))
    firstseen bulk features --out "$dir/features" --shard "$shards/$#" "$input"
done
firstseen bulk rows "$dir/features" | awk '1; NR % 10 == 0' > "$dir/twice.txt"
firstseen bulk rows "$dir/features" --out "$dir/once.parquet"
"$PYTHON" -c "
import duckdb
rows = 'SELECT * FROM read_parquet(\'$dir/once.parquet\')'
duckdb.sql(f'COPY ({rows} UNION ALL {rows} WHERE hash(v) % 10 = 0) TO \'$dir/twice.parquet\' (FORMAT parquet)')" || true

for recipe in sort.sh:sys:txt with_duckdb.py:duckdb:parquet with_clickhouse.py:chdb:parquet; do
    name=${recipe%%:*} module=${recipe#*:}
    has "$name" "${module%:*}" || continue
    twice=$dir/twice.${module#*:}
    check "$name"
    if [ -f "$twice" ]; then (export ROWS="$twice" && check "$name"); fi
done

job slurm bash "$here/on_slurm.sh"
if has on_ray.py ray; then job ray "$PYTHON" "$here/on_ray.py"; fi
if has on_spark.py pyspark; then # a master and two workers with an executor each
    spark=$("$PYTHON" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
    export PYSPARK_PYTHON="$PYTHON" SPARK_HOME="$spark" SPARK_WORKER_DIR="$dir/work" SPARK_LOCAL_IP=127.0.0.1
    job spark "$spark/bin/spark-submit" --master 'local-cluster[2,1,1024]' "$here/on_spark.py"
fi
