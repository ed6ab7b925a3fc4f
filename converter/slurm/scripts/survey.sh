# survey.sh DIRECTORY REPOSITORY: the clock, what was applied, what squeue knows, what tasks have written.
#
# In this order: a task that ends in the meantime is then known by its result, and never taken for
# one that is gone without.
directory=$1 repository=$2
date +%s
echo '==state=='
find "$directory/state/$repository" -name '*.json' -exec cat {} + 2>/dev/null || true
echo '==squeue=='
squeue --json
echo
echo '==results=='
cd "$directory/campaigns/$repository" 2>/dev/null || exit 0
for name in *; do
    if [ -d "$name/results" ] && ! [ -e "$name/ended" ]; then
        grep -r --with-filename --exclude='*.new' '' "$name/results" || true
    fi
done
