# Waits until a warm-up has filled the model cache, at most $1 seconds; then gives up with exit 13.
#
# Needs `sleep` in the image, besides the shell. The shell is process 1, which no signal ends
# unless it is asked for: without the trap a cancelled pod would live on for its grace period.
set -eu
trap 'exit 143' TERM

_campaigns_left=$1
until [ -e /data/warmup.done ]; do
  if [ "$_campaigns_left" -le 0 ]; then
    printf '%s: no /data/warmup.done after %s seconds: see the warm-up Job of pipeline %s\n' \
      "$0" "$1" "$PIPELINE_ID" >&2
    exit 13
  fi
  _campaigns_step=$((_campaigns_left < 10 ? _campaigns_left : 10))
  sleep "$_campaigns_step"
  _campaigns_left=$((_campaigns_left - _campaigns_step))
done
