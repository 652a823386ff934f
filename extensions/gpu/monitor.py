"""The GPU of a worker that takes whole trainings, as its driver's `nvidia-smi` reports it.

Asking CUDA itself would take some hundred megabytes of the GPU's memory, and the process that asks would have to end
with the first fault of the GPU.
"""

import os
import subprocess
import threading
import time
from contextlib import suppress

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import excerpt
from hydrology.base.reasons import Reason
from records.jobs.process_heartbeats import GPUState
from runtime import child_processes

ANSWER_SECONDS = 10.0  # the driver of a GPU that failed may hang
KILL_SECONDS = 2.0
REST_SECONDS = 600.0
"""A GPU that failed in a job gets no other training for this long."""

_FIELDS = ("uuid", "name", "memory.total", "memory.used", "utilization.gpu")
_MIB = 2**20


class GPUMonitor:
    """The GPU that a worker computes on; `device` is torch's name, such as `cuda:1`."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._failed: tuple[float, str] | None = None
        self._asking: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def fail(self, cause: str) -> None:
        """Report the GPU as unusable for some minutes, because of a sentence."""
        with self._turn:
            self._failed = time.monotonic(), cause

    def state(self) -> GPUState:
        with self._turn:
            failed_at, cause = self._failed or (0.0, "")
        rests = cause if time.monotonic() - failed_at < REST_SECONDS else ""
        try:
            code, text = self._ask()
        except OSError as error:  # the GPU may work all the same
            unread = _unread(f"nvidia-smi cannot be run here ({error.strerror})")
            return GPUState(device=self.device, unread=unread, fault=rests or None)
        except subprocess.TimeoutExpired:
            return self._lost(f"nvidia-smi did not answer within {ANSWER_SECONDS:g} seconds")
        values = [value.strip() for value in text.split(",")]
        if code or len(values) != len(_FIELDS):
            return self._lost(f"nvidia-smi does not find it ({excerpt(text) or f'exit code {code}'})")
        numbers = [_number(value) for value in values[2:]]
        memory, used, percent = numbers
        return GPUState(
            device=self.device,
            id=values[0],
            name=values[1],
            memory=None if memory is None else memory * _MIB,
            memory_used=None if used is None else used * _MIB,
            utilisation=None if percent is None else percent / 100,
            unread=_unread("nvidia-smi does not report it for this GPU") if None in numbers else None,
            fault=rests or None,
        )

    def _lost(self, cause: str) -> GPUState:
        return GPUState(device=self.device, unread=_unread(cause), fault=f"{cause}.")

    def _ask(self) -> tuple[int, str]:
        """Return the exit code of `nvidia-smi`, and what it wrote."""
        query = [f"--id={_index(self.device)}", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"]
        if self._asking is None:
            self._asking = child_processes.start(["nvidia-smi", *query], dies_by=None)  # heartbeats have a thread
        process = self._asking
        try:
            output, _ = process.communicate(timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            if child_processes.kill_group(process, KILL_SECONDS):  # otherwise it hangs in the kernel
                process.communicate()
                self._asking = None
            raise
        self._asking = None
        return process.returncode, output.decode(errors="replace").strip()


def _unread(cause: str) -> Absent:
    return absent(Reason.GPU_NOT_READ, cause=cause)


def _index(device: str) -> str:
    number = int(device.partition(":")[2] or 0)
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return visible[number] if number < len(visible) else str(number)


def _number(text: str) -> int | None:
    with suppress(ValueError):
        return int(text)
    return None
