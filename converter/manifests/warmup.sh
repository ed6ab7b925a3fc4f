# Runs a warm-up's command and, when it has succeeded, leaves the marker that pods wait for.
#
# $1 is the digest of this warm-up and stands in the marker. One of another warm-up is emptied
# first, so that no pod starts on a cache that is being changed; after the same one it stays, and
# pods go on while the cache is only looked over. Uses nothing but the commands of a POSIX shell.
set -eu

_campaigns_digest=$1
shift
_campaigns_done=
if [ -e /data/warmup.done ]; then
  read -r _campaigns_done </data/warmup.done || :
fi
[ "$_campaigns_done" = "$_campaigns_digest" ] || : >/data/warmup.done

# As process 1 the shell would ignore a request to stop and leave the command to be killed.
"$@" &
_campaigns_child=$!
trap 'kill -s TERM "$_campaigns_child"; wait "$_campaigns_child"; exit 143' TERM
wait "$_campaigns_child"
printf '%s\n' "$_campaigns_digest" >/data/warmup.done
