"""Applies campaigns to a Slurm: one job array each."""
