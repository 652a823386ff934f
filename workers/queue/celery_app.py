"""The Celery application: one task, JSON only, no results."""

from celery import Celery

from runtime.settings import Settings
from workers.queue.broker import broker_url

TASK = "freshet.run_job"


def make_app(settings: Settings) -> Celery:
    """Return the application that sends and receives job ids."""
    app = Celery("freshet", broker=broker_url(settings), set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue="default",
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_channel_error_retry=True,  # `PatientConsumer` decides for which errors
        worker_consumer="workers.queue.consumer:PatientConsumer",
        # A repeated message does no harm: the row of the job is claimed once.
        # Short intervals let the API answer at once without the broker: the scheduler sends again.
        broker_transport_options={
            "visibility_timeout": 24 * 3600,
            "socket_timeout": 10,
            "max_retries": 3,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.2,
        },
    )
    return app
