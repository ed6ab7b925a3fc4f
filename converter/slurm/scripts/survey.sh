# survey.sh DIRECTORY REPOSITORY: the clock, what was applied, what squeue knows, what tasks have written.
#
# In this order: a task that ends in the meantime is then known by its result, and never taken for
# one that is gone without.
directory=$1 repository=$2
date +%s
echo '==state=='
# A file that is there and cannot be read, or is empty, must not look like a campaign that is new.
if [ -d "$directory/state/$repository" ]; then
    find "$directory/state/$repository" -name '*.json' -exec sh -c '
        cat "$@" || for file; do
            if [ -e "$file" ] && ! cat "$file" >/dev/null; then exit 1; fi
        done
        for file; do
            if [ -e "$file" ] && ! [ -s "$file" ]; then echo; fi
        done' sh {} +
fi
echo '==squeue=='
squeue --json
echo
echo '==results=='
cd "$directory/campaigns/$repository" 2>/dev/null || exit 0
for name in *; do
    if [ -e "$name/ended" ]; then
        echo "$name/ended"
    elif [ -d "$name/results" ]; then
        grep -r --with-filename --exclude='*.new' '' "$name/results" || true
    fi
done
