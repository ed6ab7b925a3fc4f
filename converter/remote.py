"""The name of a repository by the URL of its remote.

The name goes into annotations that many may read, so that nothing of the URL that could be a secret
is part of it. It says whose an object is, so that two remotes never share one on a guess: a URL
without a name that is safe in both ways has none, and its repository is named in converter.yaml.
"""

import re
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

# The port of a web server tells two servers apart. That of an SSH server does not tell it from the
# web server of the same repositories.
_WEB_PORTS: Final = {"http": 80, "https": 443}
_SCHEMES: Final = (*_WEB_PORTS, "ssh", "git", "git+ssh", "ssh+git")
# git-fetch(1), GIT URLS: [<user>@]<host>:<path>, with no slash before the colon.
_LIKE_SCP: Final = re.compile(
    r"(?:[^@:/\[\]]+@)?(?P<host>\[[^@/\[\]]+\]|[^@:/\[\]]+):(?P<path>.+)\Z"
)
# <helper>::<address>, and a path of Windows.
_NOT_LIKE_SCP: Final = re.compile(r"[A-Za-z0-9+.-]+::|[A-Za-z]:/")
_HOST: Final = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?\Z")
# Where a path has one of these, it is the rest of a password, a query or no path of a repository.
_ODD: Final = re.compile(r"[@?#\\\x00-\x1f\x7f]")


def remote_name(url: str) -> str:
    """Host and path of a remote, for example ``github.com/org/repo``; empty where it has no name.

    It is the same for ``https://`` without a port, ``ssh://`` and ``git@host:path``, whoever clones
    it and with or without ``.git``.
    """
    # Programs do not agree on where the host ends in a URL with a backslash.
    host, path = ("", "") if "\\" in url else _host_and_path(url)
    segments = "/".join(filter(None, path.split("/"))).removesuffix(".git").rstrip("/")
    if not segments or _ODD.search(unquote(segments)) or not _HOST.match(host):
        return ""
    return f"{host}/{segments}"


def _host_and_path(url: str) -> tuple[str, str]:
    if "://" in url:
        try:
            return _of_url(urlsplit(url))
        except ValueError:
            # No port, or no IPv6 address, where there should be one.
            return "", ""
    found = None if _NOT_LIKE_SCP.match(url) else _LIKE_SCP.match(url)
    # A scheme whose slashes are missing is no host.
    if found is None or found["host"].lower() in _SCHEMES:
        return "", ""
    return found["host"].lower(), found["path"]


def _of_url(parts: SplitResult) -> tuple[str, str]:
    host, port = parts.hostname or "", parts.port
    if parts.scheme not in _SCHEMES or parts.query or parts.fragment:
        return "", ""
    if ":" in host:
        host = f"[{host}]"
    if parts.scheme in _WEB_PORTS and port not in (None, _WEB_PORTS[parts.scheme]):
        return f"{host}:{port}", parts.path
    return host, parts.path
