"""The tables' history. `python -m migrations "what changed"` writes the next revision from the metadata."""
