# doctor-slurm.sh SECONDS: what the controller says of itself, and what it would say to submissions.
#
# Only looks. Standard input has the arguments of sbatch for each that is tried, one in a line, and an
# empty line after each. Nothing of it is submitted.
seconds=$1
ask() {
    code=0
    timeout --kill-after=1 "$seconds" "$@" < /dev/null 2>&1 || code=$?
    echo "==code $code=="
}
echo '==ping=='
ping=$(timeout --kill-after=1 "$seconds" scontrol ping 2>&1 || true)
printf '%s\n' "$ping"
# Each of the others would wait as long for an answer.
case $ping in
    *' is UP'*) ;;
    *' is DOWN'*) exit 0 ;;
esac
echo '==clock=='
date +%s
echo '==config=='
ask scontrol show config
echo '==partitions=='
ask scontrol --all --oneliner show partition
echo '==nodes=='
ask scontrol --oneliner show node
echo '==tasks=='
ask squeue --noheader --array --states=all --format=.
echo '==rights=='
ask scontrol show assoc_mgr "users=$(id -un)" flags=users
set --
while IFS= read -r word; do
    if [ -n "$word" ]; then
        set -- "$@" "$word"
        continue
    fi
    echo '==trial=='
    ask sbatch --test-only "$@" --wrap=true
    set --
done
