# lock.sh DIRECTORY WHO: the lock of one apply, until standard input ends.
#
# It does when whoever called is gone, however that came about. Prints the number of this apply,
# which every command of it names; those of an earlier one are refused from then on.
directory=$1 who=$2
require_directory "$directory"
mkdir -p "$directory/state"
exec 8>>"$directory/apply.lock"
# A doctor that looks has it for a moment.
if ! flock --wait 1 8; then
    cat "$directory/apply.holder" >&2 2>/dev/null || echo 'unknown' >&2
    exit 74
fi
exec 9>>"$directory/lock"
flock 9
epoch=$(cat "$directory/epoch" 2>/dev/null || echo 0)
case $epoch in
    0 | [1-9]*) ;;
    *) epoch= ;;
esac
case $epoch in
    # Whatever somebody has made of it: another number than that of any apply that may still send.
    '' | *[!0-9]* | ????????????????*) epoch=$(date +%s) ;;
esac
epoch=$((epoch + 1))
echo "$epoch" | put "$directory/epoch"
printf '%s, since %s\n' "$who" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" | put "$directory/apply.holder"
exec 9>&-
date +%s
echo "$epoch"
exec cat > /dev/null
