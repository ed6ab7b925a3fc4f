# update.sh DEADLINE LOCK EPOCH JOB RECORD LINE WORD...: scontrol update of what has not changed.
#
# DEADLINE is an epoch of this host's clock. JOB is what is shown, RECORD the number of the one record
# in it that LINE is of. EPOCH is the number of the apply that asks, empty for anybody else. Slurm has
# no precondition of its own, so that the look and the write are one step under the lock.
deadline=$1 job=$4 record=$5 line=$6
if [ -n "$3" ]; then
    enter_fenced "$deadline" "$(dirname "$2")" "$3"
else
    enter "$deadline" "$2"
fi
shift 6
[ "$(line_of "$job" "$record")" = "$line" ] || exit 76
rest_until "$deadline"
# A controller that is away would have it wait beyond the deadline.
exec timeout --kill-after=1 "$rest" scontrol update "$@"
