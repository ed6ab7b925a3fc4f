"""The only room that talks to an API server. It reads and writes; it decides nothing."""
