# Runs a warm-up's command and, when it has succeeded, leaves the marker that pods wait for.
#
# The directory mounted at /data is this warm-up's alone, and so is the marker in it. Uses nothing
# but the commands of a POSIX shell.
set -eu

# As process 1 the shell would ignore a request to stop and leave the command to be killed.
"$@" &
_campaigns_child=$!
trap 'kill -s TERM "$_campaigns_child"; wait "$_campaigns_child"; exit 143' TERM
wait "$_campaigns_child"
: >/data/warmup.done
