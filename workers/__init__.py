"""Celery workers: they run jobs. The row of a job is the truth, a message only says which row to look at."""
