"""Checkpoints of others: their names and layouts, and nothing else."""
