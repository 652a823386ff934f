"""Commands about model versions."""
