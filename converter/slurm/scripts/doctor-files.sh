# doctor-files.sh DIRECTORY REPOSITORY SECONDS: the shared directory, as it is. Makes and changes nothing.
directory=$1 repository=$2 seconds=$3
echo '==directory=='
if [ -d "$directory" ]; then
    echo there
elif [ -e "$directory" ] || [ -L "$directory" ]; then
    echo other
else
    echo absent
fi
at=$directory
while ! [ -e "$at" ]; do
    at=$(dirname "$at")
done
echo '==nearest=='
echo "$at"
# What an apply of this repository writes, and what it reads.
ours="$at $directory/lock $directory/apply.lock $directory/apply.holder $directory/epoch"
ours="$ours $directory/state $directory/state/$repository $directory/campaigns"
ours="$ours $directory/campaigns/$repository $directory/applied $directory/cancelled"
echo '==unwritable=='
for each in $ours; do
    if [ -e "$each" ] && ! [ -w "$each" ]; then
        echo "$each"
    elif [ -d "$each" ] && ! [ -x "$each" ]; then
        echo "$each"
    fi
done
# What a hold writes: the lock, or before there is one, where it is made.
echo '==unheld=='
lock=$directory/lock
if ! [ -e "$lock" ]; then
    lock=$at
fi
if ! [ -w "$lock" ]; then
    echo "$lock"
fi
echo '==unreadable=='
for each in $ours "$directory/state/$repository"/*.json; do
    if [ -e "$each" ] && ! [ -r "$each" ]; then
        echo "$each"
    fi
done
echo '==mount=='
findmnt --noheadings --first-only --output FSTYPE,OPTIONS --target "$at" 2> /dev/null || true
echo '==space=='
df -Pk "$at" | tail -n 1 || true
echo '==inodes=='
df -Pi "$at" | tail -n 1 || true
# That of an apply, beside other doctors. One that begins in this moment waits it out.
echo '==apply=='
code=0
if [ -e "$directory/apply.lock" ]; then
    flock --shared --nonblock --conflict-exit-code 74 "$directory/apply.lock" true 2>&1 || code=$?
fi
echo "code $code"
# The lock that every call waits for, for a moment; before there is one, the directory itself.
echo '==lock=='
code=0
flock --wait "$seconds" --conflict-exit-code 74 "$lock" true 2>&1 || code=$?
echo "code $code"
echo '==holder=='
cat "$directory/apply.holder" 2> /dev/null || true
echo
echo '==applied=='
cat "$directory/applied/$repository.json" 2> /dev/null || true
echo
echo '==limits=='
if cd "$directory/campaigns/$repository" 2> /dev/null; then
    grep -r --include=limits '' . 2> /dev/null || true
fi
