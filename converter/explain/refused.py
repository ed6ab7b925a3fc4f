"""Which part of the cluster it is that refuses an object, by the words of its API server."""

from typing import Final

# The first that is found counts.
_WORDS: Final = (
    ("failed calling webhook", "webhook-down"),
    ("ValidatingAdmissionPolicy", "refused-by-policy"),
    ("denied the request", "refused-by-policy"),
    ("exceeded quota", "namespace-quota"),
    ("violates PodSecurity", "pod-security"),
    ("LimitRange", "limit-range"),
)


def code_of(message: str) -> str:
    """The code of such a cause; empty where the words are none of these."""
    return next((code for words, code in _WORDS if words in message), "")
