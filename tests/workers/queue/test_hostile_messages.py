"""Who can write into the broker's queue cannot make a worker run code or end."""

import base64
import json
import pickle
import uuid
from pathlib import Path
from typing import Any

import pytest
import redis

from testing.jobs.processes import Shop
from workers.queue.broker import socket_path
from workers.queue.enqueue import TASK


class Bomb:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self._file,)


def message(body: bytes, content_type: str, task: str = TASK) -> bytes:
    """Return a message as Celery would put it into the queue."""
    id_ = str(uuid.uuid4())
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "binary" if "python" in content_type else "utf-8",
            "content-type": content_type,
            "headers": {"lang": "py", "task": task, "id": id_, "root_id": id_, "parent_id": None, "argsrepr": "()"},
            "properties": {
                "body_encoding": "base64",
                "correlation_id": id_,
                "delivery_info": {"exchange": "", "routing_key": "default"},
                "delivery_mode": 2,
                "delivery_tag": id_,
            },
        }
    ).encode()


def no_args(*args: object) -> bytes:
    return json.dumps([args, {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]).encode()


@pytest.mark.extended
def test_a_pickle_in_the_queue_is_refused_and_the_worker_lives(sqlite_shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "exploded"
    bomb = pickle.dumps(Bomb(file))
    pickle.loads(bomb)  # noqa: S301 - the bomb works
    file.unlink()
    hostile = [
        message(pickle.dumps(((Bomb(file),), {}, {})), "application/x-python-serialize"),
        message(bomb, "application/json"),
        message(no_args("no such job"), "application/json"),
        message(no_args({"not": "an id"}), "application/json"),
        message(no_args(), "application/json"),
        message(no_args(), "application/json", task="os.system"),
    ]
    with redis.Redis(unix_socket_path=str(socket_path(sqlite_shop.settings))) as broker:
        broker.rpush("default", *hostile[::-1])
    worker = sqlite_shop.worker("default")
    job = sqlite_shop.post("evaluation", period="nonsense")
    assert sqlite_shop.ended(job.id).status == "failed"  # it was reached, behind all of them
    assert worker.poll() is None
    assert not file.exists()
