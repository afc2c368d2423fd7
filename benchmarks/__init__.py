"""Benchmarks: one file and one command each; see benchmarks/README.md."""
