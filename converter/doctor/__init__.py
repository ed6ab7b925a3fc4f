"""Whether a cluster, an identity and a repository are fit for campaigns.

`read` asks the cluster and git and keeps what it learns as plain values; each other module judges
one part of that, without reading anything.
"""
