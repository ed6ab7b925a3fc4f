# survey.sh DIRECTORY REPOSITORY: the clock, who asks which Slurm, what was applied, what squeue knows,
# what tasks have written.
#
# In this order: a task that ends in the meantime is then known by its result, and never taken for
# one that is gone without. Standard input names arrays whose results are read even if their directory
# says that they have ended, which spares the look at all that was ever run.
directory=$1 repository=$2
anyway=" $(tr '\n' ' ') "
# One that is not mounted would look as if nothing had ever been applied.
require_directory "$directory"
date +%s
echo '==slurm=='
id -un
scontrol show config
echo '==state=='
# A file that is there and cannot be read, or is empty, must not look like a campaign that is new.
# Each line comes with the name of its file, so that one that is cut spoils no other. A copy that
# somebody has put aside, as NAME.old.json, is none.
if [ -d "$directory/state/$repository" ]; then
    cd "$directory/state/$repository"
    find . -maxdepth 1 -name '*.json' ! -name '*[!a-z0-9-]*.json' -exec sh -c '
        broken=
        grep --text --with-filename "" "$@" 2>/dev/null || [ $? -eq 1 ] || broken=yes
        for file; do
            [ -e "$file" ] || continue
            if ! [ -f "$file" ] || ! [ -s "$file" ]; then
                echo "$file:"
            elif [ -n "$broken" ] && ! cat "$file" >/dev/null 2>&1; then
                echo "$file:"
            fi
        done' sh {} +
fi
# Of a repository that has another name by now they say what has run. Others' may be closed to us.
echo '==elsewhere=='
if cd "$directory/state" 2>/dev/null; then
    # Whatever is in them, no line begins as the next section does.
    find . -path "./$repository" -prune -o -name '*.json' -type f -exec grep --text --no-filename '' {} + \
        2>/dev/null | sed 's/^/ /' || true
fi
echo '==squeue=='
squeue --all --json
echo
echo '==results=='
# A result that cannot be read must not look like none, and the look fails.
[ -d "$directory/campaigns/$repository" ] || exit 0
cd "$directory/campaigns/$repository"
for name in *; do
    case $name in
        -*) continue ;;
    esac
    for mark in paused cancelled ended; do
        [ ! -e "$name/$mark" ] || echo "$name/$mark"
    done
    if [ -e "$name/ended" ]; then
        case $anyway in
            *" $name "*) ;;
            *) continue ;;
        esac
    fi
    [ -d "$name/results" ] || continue
    echo "$name/there"
    # Names with a dot are on their way, and may be gone. 1 is that there is nothing.
    for kind in results failures; do
        [ ! -d "$name/$kind" ] || grep -r --with-filename --exclude='.*' '' "$name/$kind" || [ $? -eq 1 ]
    done
    set -- "$name/logs/"*
    [ ! -e "$1" ] || echo "$name/begun"
done
