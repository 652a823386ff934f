"""Status: what the service has, how fresh it is, and what is degraded."""
