"""The `campaigns` command: arguments in, text and exit codes out, no decisions of its own."""
