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
    scontrol show job --oneliner "$1" | sed -E \
        's/ (Priority|Reason|StartTime|EndTime|LastSchedEval|Scheduler|AccrueTime|RunTime|SchedNodeList|ExpectedNodeList)=[^ ]*//g'
}

# The line of one record: the number of an array shows all of its records.
line_of() {
    lines_of "$1" | grep "^JobId=$2 " || true
}
