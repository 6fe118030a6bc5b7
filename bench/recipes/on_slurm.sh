#!/bin/bash
# on_slurm.sh DIR [OPTION...]: submits the job of DIR, see job.sh, with options of sbatch for all steps, such
# as --partition=night. DECIDE has more for the decision, such as --mem=200G, and PARTS the number of sorts.
# After a failure submit it again: only what is missing is done. Arrays end at the cluster's MaxArraySize.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) dir=$(cd "$1" && pwd)
shift
shards=$(grep -c '' "$dir/inputs")
export PATH="$here:$PATH" PARTS=${PARTS:-$shards}
mkdir -p "$dir/log"

# submit STEP AFTER TASKS OPTION...: submits a step, for 1 to TASKS if given, to run once the job AFTER has
# succeeded. It sets id.
submit() {
    local step=$1 after=$2 tasks=$3
    shift 3
    id=$(sbatch --parsable --job-name="$step" --output="$dir/log/$step-%A${tasks:+-%a}" ${tasks:+--array=1-$tasks} \
        --requeue --kill-on-invalid-dep=yes ${after:+--dependency=afterok:$after} "$@" "$here/job.sh" "$dir" "$step")
    id=${id%%;*}
    echo "$step: job $id"
}

submit features "" "$shards" "$@"
submit marks "$id" "$PARTS" "$@"
submit decide "$id" "" "$@" ${DECIDE:-}
submit kept "$id" "$shards" "$@"
