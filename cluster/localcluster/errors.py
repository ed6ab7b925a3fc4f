"""The one error of this package: a sentence for the person who runs the cluster."""


class ClusterError(Exception):
    """Something that the cluster needs is missing or did not start; the message says what to do."""
