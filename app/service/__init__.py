"""Status, health, metrics and audit of the service."""
