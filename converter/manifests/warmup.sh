# Runs a warm-up's command and, when it has succeeded, leaves the marker that pods wait for.
#
# The directory mounted at /data is this warm-up's alone, and so is the marker in it. Uses nothing
# but the commands of a POSIX shell.
set -eu

# As process 1 the shell would ignore a request to stop and leave the command to be killed. The trap
# is there before the command, which may be asked to stop as soon as it runs; "$!" is unset till then.
trap 'set +eu; [ -z "$!" ] || { kill -s TERM "$!"; wait "$!"; }; exit 143' TERM
"$@" &
wait "$!"
: >/data/warmup.done
