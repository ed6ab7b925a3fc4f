# show.sh [JOB]: the host's clock, the lines of a job or array, and what squeue knows.
#
# In this order: a line that is older than the JSON that was decided on is found to differ before
# anything is written.
date +%s
if [ -n "${1-}" ]; then
    lines_of "$1" 2>&1 || true
fi
echo '==squeue=='
exec squeue --all --json
