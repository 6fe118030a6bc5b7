#!/bin/sh
# sort.sh SHARDS MARKS: the marks by GNU sort. TMPDIR needs 37 bytes for each row. ROWS names a file of rows
# that are made already.
set -eu
export LC_ALL=C
if [ "${ROWS:-}" ]; then cat "$ROWS"; else firstseen bulk rows "$1"; fi | sort -S 40% | firstseen bulk marks | sort > "$2"
