"""Parts of the service, forked."""
