# fenced.sh DEADLINE DIRECTORY EPOCH COMMAND...: a command of the apply that has the lock.
enter_fenced "$1" "$2" "$3"
shift 3
exec timeout --kill-after=1 "$rest" "$@"
