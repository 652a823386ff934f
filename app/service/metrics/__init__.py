"""/metrics: figures about the service for Prometheus."""
