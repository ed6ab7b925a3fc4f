"""What the cluster says of campaigns: read, put together, and told. Nothing here changes anything.

`snapshot` reads, `status` and its neighbours say what it means as pure functions, `waiting` and
`watching` go on reading. The commands status, explain and report are made of it.
"""
