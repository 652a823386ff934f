"""The papers' experiments that need no outside data, one command each: `python -m benchmarks.papers NAME`."""
