"""The jobs that the service runs: the request, queue and limits of each kind."""
