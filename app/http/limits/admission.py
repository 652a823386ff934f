"""Admits requests: some at a time use a thread and a connection of the database, the others wait for their turn.

An admitted request uses one thread and one connection at a time, and there are as many of either as places: none waits
for one while it holds the other. Those that wait hold neither. They are few, wait shortly, and are answered 503
otherwise. Addresses take turns, so that one that sends many requests delays its own.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Sequence, Sized
from typing import Annotated, Self

import structlog
from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.costs import HEAVY, declared_cost
from app.http.middleware import Middleware, on_start
from app.http.problems import Overloaded

log = structlog.get_logger()

SECONDS_BETWEEN_REPORTS = 10.0
MAX_WAITING = 1000
PATIENCE_SECONDS, COSTLY_PATIENCE_SECONDS = 1.4, 0.8
"""Who is refused asks again: waiting slows a crowd down, and costs the service less than refusing it at once."""
SECONDS_BETWEEN_REFUSALS = 0.001
"""A crowd that came together is not refused together: every other answer would wait for that turn of the event loop."""

_Turn = asyncio.Future[bool]
"""Whether a place came."""


class Places:
    """Places of requests in progress, and the queues of those that wait up to `patience` seconds, by address."""

    @classmethod
    def costly(cls, places: int) -> Self:
        """Return the places of costly requests: a quarter of all."""
        return cls(max(1, places // 4), patience=COSTLY_PATIENCE_SECONDS)

    def __init__(self, places: int, max_waiting: int = MAX_WAITING, patience: float = PATIENCE_SECONDS) -> None:
        self._free, self._max_waiting, self._patience = places, max_waiting, patience
        self._queues: dict[str, deque[_Turn]] = {}  # the first one's turn is next
        self._lengths: Counter[int] = Counter()  # number of queues by their length
        self._waiting = 0
        self._last_refusal = -math.inf  # of those that wait, by the event loop's clock

    async def enter(self, address: str) -> bool:
        """Take a place, at once or when it is the address's turn, and return whether there was one.

        A refusal raises nothing: the traceback of an exception would hold the request until the garbage collector runs,
        which stops everything.
        """
        if self._free:
            self._free -= 1
            return True
        if not self._has_room(address):
            return False
        loop = asyncio.get_running_loop()
        turn: _Turn = loop.create_future()
        queue = self._queues.setdefault(address, deque())
        queue.append(turn)
        self._count(queue, 1)
        timer = loop.call_at(self.refusal_time(loop.time()), self._refuse, address, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._remove(address, turn)
            elif turn.result():  # the place came at the same time
                self.leave()
            raise
        finally:
            timer.cancel()

    def leave(self) -> None:
        """Pass a place on to the next address that waits, or set it free."""
        while self._queues:
            address, queue = next(iter(self._queues.items()))
            turn = queue[0]
            self._remove(address, turn)
            if address in self._queues:
                self._queues[address] = self._queues.pop(address)  # its next one waits behind the other addresses'
            if not turn.cancelled():
                turn.set_result(True)
                return
        self._free += 1

    def refusal_time(self, now: float) -> float:
        """Return when a request that waits from now on is refused: after its patience, and after those before it."""
        first = now + self._patience
        last = first + self._max_waiting * SECONDS_BETWEEN_REFUSALS
        self._last_refusal = min(max(first, self._last_refusal + SECONDS_BETWEEN_REFUSALS), last)
        return self._last_refusal

    def _has_room(self, address: str) -> bool:
        """Return whether one more may wait; where too many do, the last one of the address with most is refused."""
        if self._waiting < self._max_waiting:
            return True
        most = max(self._lengths, default=0)
        if most <= len(self._queues.get(address, ())) + 1:
            return False
        longest = next(each for each, queue in self._queues.items() if len(queue) == most)
        self._refuse(longest, self._queues[longest][-1])
        return True

    def _refuse(self, address: str, turn: _Turn) -> None:
        self._remove(address, turn)
        if not turn.done():
            turn.set_result(False)

    def _remove(self, address: str, turn: _Turn) -> None:
        queue = self._queues.get(address, deque())
        if turn in queue:
            queue.remove(turn)
            self._count(queue, -1)
        if not queue:
            self._queues.pop(address, None)

    def _count(self, queue: Sized, change: int) -> None:
        self._waiting += change
        self._lengths += Counter([len(queue)])
        self._lengths -= Counter([len(queue) - change])


class Admission:
    """The places of one request, left while it waits; a costly one takes one of few places first."""

    def __init__(self, queues: Sequence[Places], address: str) -> None:
        self._queues, self._address = queues, address
        self._held: list[Places] = []

    @property
    def is_in(self) -> bool:
        return bool(self._held)

    async def enter(self) -> bool:
        """Take the places, and return whether there were any."""
        try:
            for places in self._queues:
                if not await places.enter(self._address):
                    self.leave()
                    return False
                self._held.append(places)
        except BaseException:
            self.leave()
            raise
        return True

    def leave(self) -> None:
        """Leave the places, if it has any."""
        while self._held:
            self._held.pop().leave()


class AdmissionControl(Middleware):
    """Middleware that admits requests; they leave their place while their body arrives and once their answer begins."""

    exempt = ("/health/live", "/static/")
    """Answered without a connection, and without a thread for long."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._reported_at = -math.inf

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        of_app = scope["app"].state
        queues = [of_app.costly_places, of_app.places] if declared_cost(scope) >= HEAVY else [of_app.places]
        admission = Admission(queues, counted_as(address_of(scope)))
        scope.setdefault("state", {})["admission"] = admission

        async def received() -> Message:
            if not admission.is_in:
                return await receive()
            arriving = asyncio.ensure_future(receive())
            await asyncio.wait([arriving], timeout=0)
            if arriving.done():
                return await arriving
            admission.leave()
            message = await arriving
            if not await admission.enter():
                raise HTTPException(503)  # whoever reads the body passes this on, and no other error
            return message

        def leave(_start: Message) -> None:
            admission.leave()

        if not await admission.enter():
            self._report()
            await answer_to(Request(scope), Overloaded())(scope, receive, send)
            return
        try:
            await self._app(scope, received, on_start(send, leave))
        finally:
            admission.leave()

    def _report(self) -> None:
        """Log that requests are refused; a crowd does not fill the log."""
        if time.monotonic() - self._reported_at >= SECONDS_BETWEEN_REPORTS:
            self._reported_at = time.monotonic()
            log.warning("requests.refused")


async def _admission(request: Request) -> Admission:
    admission: Admission = request.state.admission
    return admission


# The place of the request.
RequestAdmission = Annotated[Admission, Depends(_admission)]
