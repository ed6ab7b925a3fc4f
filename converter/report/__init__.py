"""The campaigns of a repository as one HTML page.

`build` makes a model of what was read, `page` makes text of the model, both pure; `reading` reads
the cluster, and `live` and `serve` show the page for as long as somebody looks.
"""
