# save.sh DEADLINE DIRECTORY EPOCH FILE: standard input becomes the file.
enter_fenced "$1" "$2" "$3"
mkdir -p "$(dirname "$4")"
put "$4"
