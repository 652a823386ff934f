"""What each kind of work can be asked to do, stated once for the API, the command line, schedules and workers."""
