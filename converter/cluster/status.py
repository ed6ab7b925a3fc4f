"""Failure answers of an API server, as the exceptions of `converter.errors`."""

from collections.abc import Mapping
from typing import Any

from converter.errors import ApiError, Cause, Conflict, Forbidden, Invalid, NotFound

KINDS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Invalid,
}
MESSAGE_LIMIT = 400
# How the API server's own authorizer puts it; an admission policy that refuses has other words.
_NOT_PERMITTED = (" cannot patch resource ", " cannot create resource ")


def api_error(verb: str, target: str, status: int, document: Mapping[str, Any]) -> ApiError:
    """The exception for one failure answer; `document` is the Status the server sent.

    The message is put on one line and cut: the server repeats whole Go structs in it.
    """
    details = document.get("details") or {}
    causes = tuple(
        Cause(cause.get("reason", ""), cause.get("field", ""), cause.get("message", ""))
        for cause in details.get("causes") or ()
    )
    message = " ".join(str(document.get("message") or "no message").split())
    if len(message) > MESSAGE_LIMIT:
        message = message[: MESSAGE_LIMIT - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if status == 401:
        # The server says no more than "Unauthorized", whatever is wrong with the credentials.
        message = f"{message}: has the token expired? Get a new one"
    kind = KINDS.get(status, ApiError)
    return kind(verb, target, status, str(document.get("reason") or "Unknown"), message, causes)


def may_not_send(message: str) -> bool:
    """Whether a refusal of an apply is for want of a permission, whatever the object."""
    return any(words in message for words in _NOT_PERMITTED)
