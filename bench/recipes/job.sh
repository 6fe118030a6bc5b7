#!/bin/bash
# job.sh DIR STEP [N]: a step of a job on many machines, which all see DIR. on_slurm.sh, on_ray.py and
# on_spark.py give the steps. Line N of DIR/inputs has the inputs of shard N, relative to DIR.
#
#   features N  shard N and its rows: as Parquet, or in $PARTS parts by key
#   marks N     part N of the marks, by GNU sort, from part N of all rows
#   decide      a report for each shard
#   kept N      the kept records of shard N
#   index       the index of all documents, for the next crawl; it needs the features alone
#
# A step that is done does nothing, and a killed one is given again. N is also SLURM_ARRAY_TASK_ID. DIR/config,
# if there, has flags of firstseen, one a line. The program may be in the folder of this file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
step=$2 n=${3:-${SLURM_ARRAY_TASK_ID:-0}}
id=$(printf %05d "$n") of=$(grep -c '' inputs)
inputs=$(awk -v n="$n" 'NR == n' inputs) # unquoted below, to expand patterns
memory=$((${SLURM_MEM_PER_NODE:-3072} / 3))M
export PATH="$here:$PATH" LC_ALL=C
[ ! -e config ] || export FIRSTSEEN_CONFIG=$PWD/config

# once NAME COMMAND...: unless NAME is there, gives the command a hidden name, which becomes NAME.
once() {
    local name=$1 dir new
    shift
    dir=$(dirname "$name") new=.$HOSTNAME.$$.$(basename "$name")
    if [ -e "$name" ]; then
        echo "$name is there, and nothing was done"
        return
    fi
    mkdir -p "$dir"
    "$@" "$dir/$new"
    mv -T "$dir/$new" "$name" || [ -e "$name" ] # another try was faster
    rm -rf "$dir"/.*."$(basename "$name")"*     # of tries that were killed
}

# run ARG...: firstseen, where bad records do not fail a job.
run() { firstseen "$@" || [ $? = 3 ]; }

features() {
    mkdir "$1"
    if [ "${PARTS:-}" ]; then
        run bulk features --out "$1" --shard "$n/$of" $inputs
        firstseen bulk rows "$1"/*.json | parted "$1"
    else
        run bulk features --out "$1" --rows "$1/rows.parquet" --shard "$n/$of" $inputs
    fi
}

# parted DIR: rows by the first three digits of their key, which is a hash, in $PARTS files.
parted() {
    awk -v parts="$PARTS" -v dir="$1" '
        BEGIN {
            for (i = 1; i <= parts; i++) {
                part[i] = sprintf("gzip -1 > '\''%s/rows-%05d.gz'\''", dir, i)
                printf "" | part[i]
            }
            for (i = 0; i < 4096; i++) of[sprintf("%03x", i)] = part[i % parts + 1]
        }
        { print | of[substr($0, 1, 3)] }
        END {
            for (i = 1; i <= parts; i++) if (close(part[i])) exit 1
        }'
}

marks() {
    local rows=(shards/[0-9]*/rows-$id.gz)
    if [ ${#rows[@]} != "$of" ]; then
        echo "there are not $of files rows-$id.gz in shards: give the steps features first, with the same PARTS" >&2
        return 1
    fi
    gzip -dc "${rows[@]}" | sort -S $memory | firstseen bulk marks | sort -S $memory > "$1"
}

decide() {
    mkdir "$1"
    firstseen bulk decide --marks marks --report "$1/" --summary "$1/summary.json" shards/[0-9]*
}

kept() { run report apply decided/shard-$id-of-*.jsonl $inputs --out "$1"; }

case $step in
features) once "shards/$id" features ;;
marks) once "marks/$id" marks ;;
decide) once decided decide ;;
kept)
    name=$(grep -m1 '"name"' "shards/$id"/*.json | sed -E 's|.*[/"]([^/"]+)".*|\1|; s/^[^.]*//') # the ending
    once "kept/$id$name" kept
    ;;
index) run bulk decide --index index --report index.jsonl shards/[0-9]* ;;
*) echo "job.sh has no step $step" >&2 && exit 2 ;;
esac
