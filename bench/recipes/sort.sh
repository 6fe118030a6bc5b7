#!/bin/sh
# sort.sh SHARDS MARKS: the marks by GNU sort. TMPDIR needs 37 bytes for each row.
set -eu
export LC_ALL=C
firstseen rows "$1" | sort -S 40% | firstseen marks | sort > "$2"
