# Put in front of every other script here. Arguments are data; nothing in them becomes shell text.
set -eu

# Times are written and read in the zone of whoever runs Slurm's tools, and a list of array tasks is
# cut after 64 characters without the last of these.
TZ=UTC LC_ALL=C SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0
export TZ LC_ALL SLURM_TIME_FORMAT SLURM_BITSTR_LEN

# What somebody's profile would have the tools ask, print or submit.
for name in $(env | sed -n 's/^\(\(SQUEUE\|SCONTROL\|SBATCH\|SCANCEL\|SINFO\|SACCT\)_[A-Z0-9_]*\|SLURM_CLUSTERS\)=.*/\1/p'); do
    unset "$name"
done

# The lines of jobs, without what changes while nothing happens to them. They are compared as they
# are, never taken apart: a job's name may have blanks, and look like any of them.
lines_of() {
    scontrol --all show job --oneliner "$1" | sed -E \
        's/ (Priority|Reason|StartTime|EndTime|LastSchedEval|Scheduler|AccrueTime|RunTime|SchedNodeList|ExpectedNodeList)=[^ ]*//g'
}

# The line of one record: the number of an array shows all of its records.
line_of() {
    lines_of "$1" | grep "^JobId=$2 " || true
}

late() {
    echo 'the deadline has passed' >&2
    exit 75
}

# Seconds that are left until an epoch of this host's clock. Nothing is started without any.
rest_until() {
    rest=$(($1 - $(date +%s)))
    [ "$rest" -gt 0 ] || late
}

# All that is known of what has ended lies in the directory. A new one, where its file system should be
# mounted, would have everything run again.
require_directory() {
    [ -d "$1" ] || {
        echo "$1 is not there: mount its file system, or make it once (mkdir -p) where all nodes see it; in a new one every campaign is new" >&2
        exit 73
    }
}

# enter DEADLINE LOCK: the lock that everybody takes who writes, until this process and what it has
# started are gone. So another call waits for a command that goes on after whoever asked for it.
enter() {
    rest_until "$1"
    require_directory "$(dirname "$2")"
    exec 9>>"$2"
    flock --wait "$rest" 9 || late
    rest_until "$1"
}

# enter_fenced DEADLINE DIRECTORY EPOCH: the same for an apply, while no later one has begun.
enter_fenced() {
    enter "$1" "$2/lock"
    if [ "$(cat "$2/epoch")" != "$3" ]; then
        echo 'another apply has begun since' >&2
        exit 77
    fi
}

# put FILE: its new content from standard input, whole or not at all, also if the machine fails.
put() {
    cat > "$1.new" && sync "$1.new" || {
        rm -f "$1.new"
        echo "$1 cannot be written: make room for it, and see that whoever applies may write there" >&2
        exit 1
    }
    mv -T "$1.new" "$1"
    sync "$(dirname "$1")"
}
