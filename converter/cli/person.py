"""Who runs a command."""

import getpass
import os
import socket


def ci_actor() -> str:
    """The person behind a CI job, where CI says who that is; else empty."""
    for variable in ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_REQUESTEDFOREMAIL"):
        if actor := os.environ.get(variable):
            return actor
    return ""


def local_user() -> str:
    """The user of this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def caller() -> str:
    """The person behind a CI job, else ``user@host``."""
    return ci_actor() or f"{local_user()}@{socket.gethostname()}"
