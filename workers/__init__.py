"""Celery workers run the jobs. A job's row is authoritative; a message only names the row to look at."""
