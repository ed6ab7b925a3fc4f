# unpack.sh DEADLINE DIRECTORY EPOCH TARGET NAME...: a tar file from standard input becomes the
# directory, with empty directories of these names.
#
# Whole or not at all. What an apply that was killed has left there is replaced: the caller knows that
# nothing was submitted from it.
enter_fenced "$1" "$2" "$3"
target=$4
shift 4
rm -rf "$target.new" "$target"
mkdir -p "$target.new"
for name in "$@"; do
    mkdir "$target.new/$name"
done
tar --extract --file=- --no-same-owner --directory="$target.new"
find "$target.new" -type f -exec sync {} +
mv -T "$target.new" "$target"
sync "$(dirname "$target")"
