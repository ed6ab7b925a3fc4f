#!/bin/sh
# task.sh DIRECTORY: one task of the job array that has this directory. It finds its volume, runs the
# command on it, says how it ended.
#
# The same text for every campaign. What differs lies in files beside it, and no value of them is
# ever read as shell text: they are escaped, and printf puts them into variables and arguments. All
# names here start with _campaigns_, so that no variable of a campaign is overwritten or missed.
#
# A try that fails is noted in failures/, and the task has itself queued again while there are tries
# left. results/<index> is written once, when the volume is done or has failed for good. What it
# says is in logs/<index>.log. Slurm does not open that: where it cannot, it lets the task fail.
set -u

_campaigns_log() {
  printf 'campaigns: %s\n' "$1" >&2
}

# Slurm tells of the end of the time, of a cancellation and of a preemption by SIGTERM. The command
# is told, and this script goes on, to write down how it ended.
_campaigns_signalled=
_campaigns_interrupted=
_campaigns_child=
_campaigns_told() {
  _campaigns_signalled=yes
  _campaigns_interrupted=yes
  if [ -n "$_campaigns_child" ]; then kill -TERM "$_campaigns_child" 2>/dev/null; fi
}
trap _campaigns_told TERM

_campaigns_work=
_campaigns_clean() {
  if [ -n "$_campaigns_work" ]; then rm -rf -- "$_campaigns_work"; fi
}
trap _campaigns_clean EXIT

# FILE CODE: one line, by rename, so that nobody ever reads a part of it. The file system may be
# away for minutes, and work that is done but not noted would be done again.
_campaigns_write() {
  _campaigns_new=${1%/*}/.$_campaigns_index.${SLURM_JOB_ID-0}.$$
  _campaigns_line="$2 $_campaigns_try $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  for _campaigns_pause in 0 1 5 20 60 120; do
    sleep "$_campaigns_pause"
    if printf '%s\n' "$_campaigns_line" >"$_campaigns_new" && mv -fT "$_campaigns_new" "$1"; then
      return 0
    fi
  done
  _campaigns_log "cannot write $1"
  return 1
}

# CODE: the volume has ended. Without the note the task must not count as done.
_campaigns_end() {
  if _campaigns_write "results/$_campaigns_index" "$1"; then exit "$1"; fi
  exit 1
}

# Whether this try is not the task's any more, other than for its time: it was cancelled, and must
# not be queued again, or Slurm has queued it again itself, after a preemption or on the loss of the
# node, and it may run elsewhere by now. Where Slurm does not answer, a try that was told to end
# counts as that: nothing must bring a cancelled campaign back.
_campaigns_taken() {
  for _campaigns_pause in 0 2 5; do
    sleep "$_campaigns_pause"
    if _campaigns_shown=$(scontrol --oneliner show job "$_campaigns_task"); then
      case " $_campaigns_shown " in
        *" JobState=RUNNING "* | *" Reason=TimeLimit "*) ;;
        *) return 0 ;;
      esac
      case " $_campaigns_shown " in
        *" Restarts=${SLURM_RESTART_COUNT:-0} "*) return 1 ;;
      esac
      return 0
    fi
  done
  [ -n "$_campaigns_signalled" ]
}

# CODE: have this task queued again, to wait at its gate while the campaign is paused. Comes back
# when Slurm does not take it.
_campaigns_again() {
  _campaigns_ending=$_campaigns_signalled
  for _campaigns_pause in 0 2 5 15 30; do
    sleep "$_campaigns_pause"
    if [ -e cancelled ]; then
      _campaigns_log 'the campaign is cancelled'
      exit "$1"
    fi
    _campaigns_verb=requeue
    if [ -e paused ]; then _campaigns_verb=requeuehold; fi
    # Slurm ends all that runs here as soon as it has heard; what it is told must be told whole.
    if (trap '' TERM && exec scontrol "$_campaigns_verb" "$_campaigns_task"); then exit "$1"; fi
    # Told to end meanwhile, it is queued again or cancelled.
    if [ -z "$_campaigns_ending" ] && [ -n "$_campaigns_signalled" ]; then exit "$1"; fi
  done
  _campaigns_log "Slurm did not take: scontrol $_campaigns_verb $_campaigns_task"
}

# The command was told to end. Where that is for its time, Slurm kills all that is left after
# KillWait, this script too: what goes on in spite of that is killed before, so that the try is
# noted, and is not the last one.
_campaigns_time=
_campaigns_bound() {
  _campaigns_shown=$(scontrol --oneliner show job "$_campaigns_task") || return 0
  case " $_campaigns_shown " in
    *" Reason=TimeLimit "*) ;;
    *) return 0 ;;
  esac
  _campaigns_log 'its time (--time) is over'
  _campaigns_wait=$(scontrol show config | sed -n 's/^KillWait *= *\([0-9][0-9]*\) .*/\1/p')
  if [ -z "$_campaigns_wait" ]; then return 0; fi
  (
    sleep "$((_campaigns_wait * 2 / 3))"
    kill -KILL "$_campaigns_child" 2>/dev/null
  ) &
  _campaigns_time=$!
}

# CODE: this try has failed.
_campaigns_failed() {
  if _campaigns_taken; then
    _campaigns_log "Slurm has ended this try (exit code $1); it does not count"
    exit "$1"
  fi
  # Slurm says so in its own output alone, which is nowhere.
  if [ "$1" -eq 137 ] && [ -z "$_campaigns_time" ]; then
    _campaigns_log 'it was killed (SIGKILL): for want of memory, where nobody did it'
  fi
  # A failure that is not noted could be repeated for ever.
  _campaigns_write "failures/$_campaigns_index.$_campaigns_try" "$1" || exit "$1"
  if [ "$_campaigns_try" -le "$_campaigns_limit" ]; then
    _campaigns_log "try $_campaigns_try failed with exit code $1, and there is another"
    _campaigns_again "$1"
  fi
  _campaigns_log "failed with exit code $1 after $_campaigns_try tries"
  _campaigns_end "$1"
}

# TEXT: what it stands for, in _campaigns_value. The dot keeps line breaks at its end.
_campaigns_decode() {
  _campaigns_value=$(printf '%b.' "$1")
  _campaigns_value=${_campaigns_value%.}
}

# NAME VALUE: a variable of the command.
_campaigns_set() {
  export "$_campaigns_prefix$1=$2"
}

# Lines NAME=TEXT on standard input.
_campaigns_set_all() {
  while IFS= read -r _campaigns_line; do
    case $_campaigns_line in
      ?*=*)
        _campaigns_decode "${_campaigns_line#*=}"
        _campaigns_set "${_campaigns_line%%=*}" "$_campaigns_value"
        ;;
    esac
  done
}

_campaigns_index=${SLURM_ARRAY_TASK_ID-}
case $_campaigns_index in
  '' | *[!0-9]*)
    _campaigns_log 'this is for a task of a job array of Slurm: SLURM_ARRAY_TASK_ID is no number'
    exit 2
    ;;
esac
_campaigns_task=${SLURM_ARRAY_JOB_ID-}_$_campaigns_index

# Slurm starts a task in /tmp where its directory is not there.
_campaigns_home=${1-$(pwd)}

# Whether the directory is there, and the log can be written, which is the proof.
_campaigns_there() {
  cd "$_campaigns_home" 2>/dev/null && [ -d results ] && [ -d failures ] || return 1
  mkdir -p logs 2>/dev/null && (: >>"logs/$_campaigns_index.log") 2>/dev/null
}

# COMMAND...: give it two minutes to succeed, unless this task is told to end.
_campaigns_patiently() {
  for _campaigns_pause in 0 1 2 5 10 10 10 10 10 10 10 10 10 10 10; do
    sleep "$_campaigns_pause"
    if [ -n "$_campaigns_signalled" ]; then return 1; fi
    if "$@"; then return 0; fi
    _campaigns_late=yes
  done
  return 1
}

# A node without the shared file system would take one task after the other, and none would run.
# Each goes back into the queue, which is no try. While nothing of the campaign can be seen, nobody
# knows whether it is paused either.
_campaigns_late=
cd /
until _campaigns_patiently _campaigns_there; do
  # The file system is there, and the campaign was taken away.
  if [ -d "${_campaigns_home%/*}" ] && ! [ -d "$_campaigns_home" ]; then exit 1; fi
  if _campaigns_taken; then exit 1; fi
  _campaigns_again 1
  if [ -n "$_campaigns_signalled" ]; then exit 1; fi
done
exec >>"logs/$_campaigns_index.log" 2>&1
if [ -n "$_campaigns_late" ]; then
  _campaigns_log "its directory was not there at once on ${SLURMD_NODENAME-this node}"
fi

# Started once more though it has ended: its node was lost just then, say. What is no result for
# apply is none here, and is written anew.
_campaigns_code=
if [ -f "results/$_campaigns_index" ] && ! [ -L "results/$_campaigns_index" ]; then
  _campaigns_code=$(LC_ALL=C sed -n \
    '/^[0-9]\{1,3\} [0-9]\{1,9\} [0-9TZ:-]\{1,\}$/{s/ .*//p;q;}' "results/$_campaigns_index") || {
    _campaigns_again 1
    exit 1
  }
fi
if [ -n "$_campaigns_code" ]; then
  _campaigns_log "this volume has ended before, with exit code $_campaigns_code"
  exit "$_campaigns_code"
fi

set -- "failures/$_campaigns_index".*
_campaigns_failures=0
if [ -e "$1" ]; then _campaigns_failures=$#; fi
_campaigns_try=$((_campaigns_failures + 1))

if [ -e cancelled ]; then
  _campaigns_log 'the campaign is cancelled'
  exit 0
fi
if [ -e paused ]; then
  _campaigns_log 'the campaign is paused'
  # Comes back only where Slurm cannot be asked: better not run than run a paused campaign.
  _campaigns_again 1
  exit 1
fi

_campaigns_limit=$(sed -n 's/^backoff_limit_per_index=\([0-9][0-9]*\)$/\1/p' limits) || :
if [ -z "$_campaigns_limit" ]; then
  _campaigns_log 'there is no backoff_limit_per_index in the file limits'
  exit 1
fi

_campaigns_number=$((_campaigns_index + 1))
_campaigns_line=$(LC_ALL=C sed -n "$_campaigns_number{p;q;}" volumes.txt) || _campaigns_failed 1
_campaigns_tab=$(printf '\t')
case $_campaigns_line in
  ?*"$_campaigns_tab"*) ;;
  *)
    _campaigns_log "volumes.txt has no volume for index $_campaigns_index"
    _campaigns_end 13
    ;;
esac
_campaigns_id=${_campaigns_line%%"$_campaigns_tab"*}
_campaigns_source=${_campaigns_line#*"$_campaigns_tab"}

_campaigns_own=
if [ -e volume-env ]; then
  _campaigns_own=$(LC_ALL=C sed -n "s/^$_campaigns_index //p" volume-env) || _campaigns_failed 1
fi

set --
while IFS= read -r _campaigns_line; do
  _campaigns_decode "$_campaigns_line"
  set -- "$@" "$_campaigns_value"
done <command || _campaigns_failed 1
[ "$#" -gt 0 ] || _campaigns_failed 1

# These two do not hand on what they were given where they are told to keep the environment clean,
# and take what is meant for the container by another name, which also spares themselves its PATH.
case ${1##*/} in
  apptainer) _campaigns_prefix=APPTAINERENV_ ;;
  singularity) _campaigns_prefix=SINGULARITYENV_ ;;
  *) _campaigns_prefix= ;;
esac

# As with a node without the shared file system, but what is wrong can be told, so it is a try.
_campaigns_made() {
  _campaigns_work=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/campaigns.XXXXXXXXXX")
}
_campaigns_patiently _campaigns_made || {
  _campaigns_work=
  _campaigns_failed 1
}

_campaigns_tries="try $_campaigns_try of at most $((_campaigns_limit + 1))"
_campaigns_log "volume $_campaigns_id, $_campaigns_tries, on ${SLURMD_NODENAME-this node}"

(
  unset IMAGES IIIF_MANIFEST_URL
  _campaigns_set TMPDIR "$_campaigns_work"
  _campaigns_set WORKDIR_PATH "$_campaigns_work"
  _campaigns_set_all <environment || exit 1
  _campaigns_set_all <<END
$_campaigns_own
END
  case $_campaigns_source in
    images:*)
      _campaigns_source=${_campaigns_source#images:}
      _campaigns_set IMAGES "$_campaigns_source"
      ;;
    [Hh][Tt][Tt][Pp]://* | [Hh][Tt][Tt][Pp][Ss]://*)
      _campaigns_set IIIF_MANIFEST_URL "$_campaigns_source"
      ;;
  esac
  _campaigns_set VOLUME_ID "$_campaigns_id"
  _campaigns_set VOLUME_REF "$_campaigns_id"
  _campaigns_set VOLUME_SOURCE "$_campaigns_source"
  _campaigns_set JOB_COMPLETION_INDEX "$_campaigns_index"
  _campaigns_set INDEX_FAILURE_COUNT "$_campaigns_failures"
  # Else they have a shell of their own expand $(...) in these variables.
  case $_campaigns_prefix in
    APPTAINERENV_) export APPTAINER_NO_EVAL=1 ;;
    SINGULARITYENV_) export SINGULARITY_NO_EVAL=1 ;;
  esac
  cd "$_campaigns_work" || exit 1
  exec "$@"
) &
_campaigns_child=$!
# It may have been told before there was somebody to tell.
if [ -n "$_campaigns_signalled" ]; then kill -TERM "$_campaigns_child" 2>/dev/null; fi

# A signal ends the wait early, with a code that is not the command's.
_campaigns_code=
_campaigns_interrupted=yes
while [ -n "$_campaigns_interrupted" ]; do
  _campaigns_interrupted=
  wait "$_campaigns_child"
  _campaigns_waited=$?
  # 127 says that there is nothing to wait for any more, once the code is known.
  if [ -z "$_campaigns_code" ] || [ "$_campaigns_waited" -ne 127 ]; then
    _campaigns_code=$_campaigns_waited
  fi
  if [ -n "$_campaigns_interrupted" ] && [ -z "$_campaigns_time" ]; then _campaigns_bound; fi
done
if [ -n "$_campaigns_time" ]; then kill "$_campaigns_time" 2>/dev/null; fi
_campaigns_child=

# Told to end, many a program writes down how far it is and says that all is well. What Slurm has
# queued again then goes on from there.
if [ "$_campaigns_code" -eq 0 ] && [ -n "$_campaigns_signalled" ] && _campaigns_taken; then
  _campaigns_log 'Slurm has ended this try; it does not count'
  exit 1
fi

# 13: trying again would come to the same.
case $_campaigns_code in
  0 | 13) _campaigns_end "$_campaigns_code" ;;
esac
_campaigns_failed "$_campaigns_code"
