# Clones a repository with its whole history, and checks a revision out.
#
# Its values come from the environment, and none is ever read as shell text:
#   URL          the repository
#   REVISION     a branch, a tag, refs/heads/<branch>, refs/tags/<tag>, HEAD for the default branch,
#                or the full id of a commit
#   DIRECTORY    where the clone goes; must not be there
#   CREDENTIALS  a directory that may have ssh/ssh-privatekey and ssh/known_hosts, http/username and
#                http/password, ca/ca.crt
set -eu
umask 077

fail() {
  printf 'clone: %s\n' "$1" >&2
  exit 1
}

# Nothing but what is said here configures git, nobody is there to answer, and an address in the
# repository cannot bring another way of fetching into play.
export CREDENTIALS GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 LC_ALL=C
export GIT_ALLOW_PROTOCOL="${GIT_ALLOW_PROTOCOL:-https:ssh}"

# A host key that is not in known_hosts is refused, never learnt.
export GIT_SSH_COMMAND='ssh -F /dev/null -o BatchMode=yes \
  -o IdentitiesOnly=yes -o IdentityAgent=none -o IdentityFile="$CREDENTIALS/ssh/ssh-privatekey" \
  -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$CREDENTIALS/ssh/known_hosts" \
  -o GlobalKnownHostsFile=/dev/null -o UpdateHostKeys=no \
  -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4'

# git runs this when a server asks. A redirection could lead to another server, so none is followed.
helper='!read_them() {
  [ "$1" = get ] && [ -e "$CREDENTIALS/http/password" ] || return 0
  printf "username=%s\n" "$(cat "$CREDENTIALS/http/username")"
  printf "password=%s\n" "$(cat "$CREDENTIALS/http/password")"
}
read_them'

if [ -e "$CREDENTIALS/ca/ca.crt" ]; then
  export GIT_SSL_CAINFO="$CREDENTIALS/ca/ca.crt"
fi

if said=$(git -c credential.helper="$helper" -c http.followRedirects=false \
  -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 \
  clone --quiet --no-checkout --template= -- "$URL" "$DIRECTORY" 2>&1); then
  :
else
  printf '%s\n' "$said" >&2
  case $said in
    *'Host key verification failed'*)
      fail "known_hosts of the Secret does not have the host key of this server; write the key there once you have made sure that it is the server's" ;;
    *'Permission denied (publickey'*)
      fail "the server does not take the key in ssh-privatekey of the Secret; add its public half to the repository as a deploy key" ;;
    *'Authentication failed'* | *'could not read Username'* | *'could not read Password'*)
      fail "the server does not take username and password of the Secret, or there is none; write an access token that may read the repository" ;;
    *'certificate'*)
      fail "the certificate of the server is not trusted; write the certificate of its authority to ca.crt of the ConfigMap" ;;
    *'error: 30'*)
      fail "the server redirects, which is not followed; write the address that it redirects to" ;;
    *)
      fail "git cannot clone $URL" ;;
  esac
fi

commit_of() {
  git -C "$DIRECTORY" rev-parse --quiet --verify "$1^{commit}" || :
}

is_full_id() {
  case $1 in
    *[!0-9a-f]*) return 1 ;;
  esac
  [ ${#1} -eq 40 ] || [ ${#1} -eq 64 ]
}

case $REVISION in
  refs/heads/*) found=$(commit_of "refs/remotes/origin/${REVISION#refs/heads/}") ;;
  refs/*) found=$(commit_of "$REVISION") ;;
  *)
    if is_full_id "$REVISION"; then
      found=$(commit_of "$REVISION")
    else
      branch=$(commit_of "refs/remotes/origin/$REVISION")
      tag=$(commit_of "refs/tags/$REVISION")
      if [ "$branch" ] && [ "$tag" ]; then
        fail "$REVISION is a branch and a tag; write refs/heads/$REVISION or refs/tags/$REVISION"
      fi
      found=$branch$tag
    fi
    ;;
esac
if [ -z "$found" ]; then
  fail "$URL has no branch, tag or commit $REVISION; a commit is named by its full id, and has to be in the history of a branch or tag"
fi

git -C "$DIRECTORY" -c advice.detachedHead=false checkout --quiet --detach "$found"
printf '%s of %s is commit %s\n' "$REVISION" "$URL" "$found"
