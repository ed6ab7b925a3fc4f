"""Makes the cluster agree with the render: live state, plan, execute, pause, prune, record.

Decisions are pure functions of plain values (`plan`, `record`, `fields`); the modules that send
requests carry them out and report what happened.
"""
