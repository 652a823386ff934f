"""Whether the service runs and can answer."""
