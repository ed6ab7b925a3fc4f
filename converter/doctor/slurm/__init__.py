"""What keeps a Slurm, its host or this identity from running campaigns."""
