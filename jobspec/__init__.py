"""The request of each kind of job, declared once for the API, the command line, schedules and workers."""
