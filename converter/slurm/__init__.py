"""What is read from Slurm and written to it; imports nothing of the rooms that use it."""
