# Finds this pod's volume, puts it into the environment and becomes the command it was given.
#
# Uses nothing but the commands of a POSIX shell, since an image may have no others, and never
# reads a value as shell text. All its own variables start with _campaigns_, so that none of the
# pod's is overwritten.
set -eu

_campaigns_tab=$(printf '\t')
_campaigns_next=0
while IFS= read -r _campaigns_line || [ -n "$_campaigns_line" ]; do
  [ "$_campaigns_next" -lt "$JOB_COMPLETION_INDEX" ] || break
  _campaigns_next=$((_campaigns_next + 1))
done </campaign/volumes.txt

case $_campaigns_line in
  ?*"$_campaigns_tab"*) ;;
  *)
    _campaigns_line="$0: no volume for index $JOB_COMPLETION_INDEX in /campaign/volumes.txt"
    printf '%s\n' "$_campaigns_line" >&2
    { printf '%s\n' "$_campaigns_line" >/dev/termination-log; } 2>/dev/null || :
    exit 13
    ;;
esac
_campaigns_id=${_campaigns_line%%"$_campaigns_tab"*}
_campaigns_source=${_campaigns_line#*"$_campaigns_tab"}

_campaigns_newline='
'
if [ -e /campaign/env.txt ]; then
  while IFS= read -r _campaigns_line || [ -n "$_campaigns_line" ]; do
    case $_campaigns_line in
      "$JOB_COMPLETION_INDEX$_campaigns_tab$_campaigns_tab"*) # one more line of the same value
        _campaigns_line=${_campaigns_line#*"$_campaigns_tab$_campaigns_tab"}
        _campaigns_value=$_campaigns_value$_campaigns_newline$_campaigns_line
        ;;
      "$JOB_COMPLETION_INDEX$_campaigns_tab"*)
        _campaigns_line=${_campaigns_line#*"$_campaigns_tab"}
        _campaigns_name=${_campaigns_line%%"$_campaigns_tab"*}
        _campaigns_value=${_campaigns_line#*"$_campaigns_tab"}
        ;;
      *) continue ;;
    esac
    export "$_campaigns_name=$_campaigns_value"
  done </campaign/env.txt
fi

unset IMAGES IIIF_MANIFEST_URL
case $_campaigns_source in
  images:*)
    _campaigns_source=${_campaigns_source#images:}
    export IMAGES="$_campaigns_source"
    ;;
  [Hh][Tt][Tt][Pp]://* | [Hh][Tt][Tt][Pp][Ss]://*)
    export IIIF_MANIFEST_URL="$_campaigns_source"
    ;;
esac
export VOLUME_ID="$_campaigns_id" VOLUME_REF="$_campaigns_id" VOLUME_SOURCE="$_campaigns_source"

exec "$@"
