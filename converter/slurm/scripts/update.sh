# update.sh DEADLINE LOCK JOB RECORD LINE WORD...: scontrol update of what has not changed.
#
# DEADLINE is an epoch of this host's clock. JOB is what is shown, RECORD the number of the one record
# in it that LINE is of. Slurm has no precondition of its own, so that the look and the write are one
# step under a lock that everybody takes. The lock goes with the last process that has it: another
# call waits for this scontrol, also where whoever called is gone.
deadline=$1 lock=$2 job=$3 record=$4 line=$5
shift 5

late() {
    echo 'the deadline has passed' >&2
    exit 75
}

rest=$((deadline - $(date +%s)))
[ "$rest" -gt 0 ] || late
exec 9>>"$lock"
flock --wait "$rest" 9 || late
[ "$(date +%s)" -lt "$deadline" ] || late
[ "$(line_of "$job" "$record")" = "$line" ] || exit 76
rest=$((deadline - $(date +%s)))
[ "$rest" -gt 0 ] || late
# A controller that is away would have it wait beyond the deadline.
exec timeout --kill-after=1 "$rest" scontrol update "$@"
