"""Commands about the running service."""
