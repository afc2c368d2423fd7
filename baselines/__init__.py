"""Baselines: one file and one command each; see baselines/README.md."""
