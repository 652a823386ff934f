"""Half an hour of all that a service does, with random kills: what is answered, what comes of jobs, what it holds."""
