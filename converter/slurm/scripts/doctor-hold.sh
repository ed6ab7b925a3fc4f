# doctor-hold.sh DIRECTORY SECONDS NAME COMMENT WORD...: a job of doctor's own behind its gate, until
# standard input ends.
#
# That is so when whoever called is gone, however that came about. One at a time, so that what is there
# already was left behind. WORD are the arguments of sbatch.
directory=$1 seconds=$2 name=$3 comment=$4
shift 4
exec 8>>"$directory/doctor.lock"
if ! flock --wait "$seconds" 8; then
    echo 'another doctor tries holds there' >&2
    exit 74
fi
# Ctrl-C is for everything in the terminal, and this is what takes the job away again.
trap '' INT TERM HUP
# The comment of one that was held has more words after the same beginning.
ours=${comment%sum=*}
cancelled() {
    timeout --kill-after=1 "$seconds" squeue --noheader "--user=$(id -un)" "--name=$name" \
        --states=PENDING,RUNNING,SUSPENDED '--format=%i %k' < /dev/null | while read -r job said; do
        case $said in
            "$ours"*) ;;
            *) continue ;;
        esac
        if timeout --kill-after=1 "$seconds" scancel "$job" < /dev/null; then
            echo "cancelled $job"
        fi
    done
}
cancelled
echo '==submitted=='
timeout --kill-after=1 "$seconds" sbatch --hold --parsable "--job-name=$name" "--comment=$comment" "$@" \
    --wrap=true < /dev/null || echo failed
cat > /dev/null
# Nothing is printed before: there may be nobody left to read it, which would end this.
gone=$(cancelled 2>&1) || true
echo '==cancelled=='
printf '%s\n' "$gone"
echo '==end=='
