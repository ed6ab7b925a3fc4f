"""What an apply would change: `change` has the values, `objects` the text of one object,
`decide` what becomes of a plan, and `compare` reads the cluster and asks it by dry run.
"""
