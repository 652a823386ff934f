"""The jobs that the service runs: for each kind what it can be asked for, its queue and its limits."""
