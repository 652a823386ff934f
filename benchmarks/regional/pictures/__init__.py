"""The pictures of the guide, drawn from stored results."""
