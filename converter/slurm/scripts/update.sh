# update.sh DEADLINE LOCK JOB RECORD LINE WORD...: scontrol update of what has not changed.
#
# DEADLINE is an epoch of this host's clock. JOB is what is shown, RECORD the number of the one record
# in it that LINE is of. Slurm has no precondition of its own, so that the look and the write are one
# step under the lock.
deadline=$1 job=$3 record=$4 line=$5
enter "$deadline" "$2"
shift 5
[ "$(line_of "$job" "$record")" = "$line" ] || exit 76
rest_until "$deadline"
# A controller that is away would have it wait beyond the deadline.
exec timeout --kill-after=1 "$rest" scontrol update "$@"
