#!/bin/sh
# check.sh DIR INPUT...: runs the recipes over the inputs, a shard each, once more with a tenth of the rows twice.
# Each report must be that of one firstseen dedup, except for the fields that need the texts. DIR gets all files.
# Engines that $PYTHON lacks are left out; duckdb also makes the rows that come twice.
set -eu
dir=$1
shift
export PYTHON="${PYTHON:-python3}" TMPDIR="$dir"
mkdir -p "$dir"

# lines REPORT: its lines without the fields that need the texts.
lines() {
    "$PYTHON" -c '
import json, sys
for line in open(sys.argv[1]):
    fields = json.loads(line)
    if "end" not in fields:
        print({name: value for name, value in fields.items() if name not in ("sample", "new", "shard")})' "$1"
}

# check RECIPE: runs it, decides by its marks, and compares the reports.
check() {
    case $1 in *.py) run=$PYTHON ;; *) run=sh ;; esac
    "$run" "$(dirname "$0")/$1" "$dir/features" "$dir/marks"
    firstseen bulk decide --marks "$dir/marks" -r "$dir/report.jsonl" "$dir/features" 2> "$dir/words"
    lines "$dir/report.jsonl" > "$dir/got"
    cmp "$dir/got" "$dir/want"
    echo "$1${ROWS:+, a tenth of the rows twice}: $(wc -l < "$dir/want") lines, each that of one run"
}

firstseen dedup -q -r "$dir/one.jsonl" "$@"
lines "$dir/one.jsonl" > "$dir/want"
shard=0
for input; do
    shard=$((shard + 1))
    firstseen bulk features --out "$dir/features" --shard "$shard/$#" "$input"
done
firstseen bulk rows "$dir/features" | awk '1; NR % 10 == 0' > "$dir/twice.txt"
firstseen bulk rows "$dir/features" --out "$dir/once.parquet"
"$PYTHON" -c "
import duckdb
rows = 'SELECT * FROM read_parquet(\'$dir/once.parquet\')'
duckdb.sql(f'COPY ({rows} UNION ALL {rows} WHERE hash(v) % 10 = 0) TO \'$dir/twice.parquet\' (FORMAT parquet)')" || true

for recipe in sort.sh:sys:txt with_duckdb.py:duckdb:parquet with_clickhouse.py:chdb:parquet \
    with_spark.py:pyspark:parquet spark_cluster.sh:pyspark:parquet; do
    name=${recipe%%:*} module=${recipe#*:}
    twice=$dir/twice.${module#*:}
    if ! "$PYTHON" -c "import ${module%:*}" 2> "$dir/words"; then
        echo "$name: left out, $PYTHON has no ${module%:*}"
        continue
    fi
    check "$name"
    if [ -f "$twice" ]; then (export ROWS="$twice" && check "$name"); fi
done
