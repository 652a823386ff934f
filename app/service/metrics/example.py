"""The beginning of an answer, as the documentation shows it."""

METRICS = """\
# HELP freshet_queue_jobs Jobs that wait for a worker.
# TYPE freshet_queue_jobs gauge
freshet_queue_jobs{queue="default"} 2.0
freshet_queue_jobs{queue="ingest"} 0.0
"""
