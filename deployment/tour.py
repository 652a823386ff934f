"""Repeats the tour of the service in containers: `make containers`.

In a fresh checkout of what is committed it builds the image, follows docs/do/deployment.md as it is printed, breaks
what can break, and upgrades from an earlier commit. Each step prints a line with its seconds. It needs Docker with
Compose, git, root (for the folder of the backups), some 10 GB of disk and the ports 8000 and 8001; at the end nothing
of it is left but the image `freshet:cpu`. Settings of Docker, Compose and the build come from the environment:
PYTHON_IMAGE, POSTGRES_IMAGE, VALKEY_IMAGE, PIP_INDEX_URL, TORCH_INDEX_URL, COMPOSE_FILE.
"""

import argparse
import json
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import invented_basins
from stack import OutcomeError, Stack, require, until

ROOT = Path(__file__).parents[1]
PROJECT, COPY = "freshet-tour", "freshet-copy"
"""Names of the projects; the second stands in the guide."""
MAX_IMAGE = 2.1e9  # bytes
MAX_IDLE = 0.03  # of a core
IDLE_SECONDS = 120
MAX_CHECK = 0.2  # CPU seconds of a health check
MAX_RUN = 5.0  # seconds until a command of `docker compose run` has started
MAX_BACK = 15.0  # seconds until a killed API answers
BASINS = 520
"""Three parts of a daily cycle, by default."""
RIVER = "/v1/basins/USGS-12010000/forecasts/latest"
FAULTS = (OutcomeError, OSError, HTTPException, LookupError, ValueError, subprocess.CalledProcessError)
STEADY = (RIVER, "/v1/basins?limit=1000", "/v1/runs?limit=100", "/v1/issues", "/v1/models")
SMALL_VOLUME = {"volumes": {"postgres": {"driver_opts": {"type": "tmpfs", "device": "tmpfs", "o": "size=600m"}}}}


@dataclass
class Tour:
    """The stack, a copy of it, the commits, and what later steps need of earlier ones."""

    stack: Stack
    copy: Stack
    commit: str
    earlier: str
    count: int
    version: str = ""
    revisions: int = 0
    answers: dict[str, Any] = field(default_factory=dict)
    images: list[str] = field(default_factory=list)

    def cycle(self, meanwhile: Callable[[], None] | None = None) -> float:
        """Run a daily cycle on revised weather, do something while its parts run, and return the cycle's seconds.

        Every basin must get one forecast.
        """
        self._revise()
        since, started = self.stack.get("/v1/status")["now"], time.monotonic()
        job = self.stack.post("daily")
        if meanwhile is not None:
            parts = f"/v1/jobs?parent={job}&status=running"
            until(lambda: self.stack.get(parts)["jobs"], "no part of the cycle runs")
            meanwhile()
        self.stack.done(job)
        seconds = time.monotonic() - started
        require(self._issued(since) == dict.fromkeys(invented_basins.names(self.count), 1), "not one forecast a basin")
        today = self.stack.get("/v1/status")["now"][:10]
        issue = self.stack.get(f"/v1/issues/{today}?version={self.version}")
        require((issue["renewed"], issue["lacking"]) == (self.count, 0), f"the issue has {issue['basins']}")
        return seconds

    def _revise(self) -> None:
        day, self.revisions = last_day(), self.revisions + 1
        file = self.stack.folder / "sources" / f"{self.revisions}.csv"
        invented_basins.write_days(file, self.count, day, day, rain=self.revisions)
        self.freshet(f"ingest tables --product {invented_basins.PRODUCT} --observations /sources/{file.name}")

    def freshet(self, words: str) -> str:
        """Run a command of Freshet beside the running stack."""
        return self.stack.compose(f"run --rm --no-deps worker {words}")

    def _issued(self, since: str) -> dict[str, int]:
        """Return the number of forecasts issued since an instant by basin."""
        listed = f"/v1/runs?version={self.version}&purpose=operational&issued_after={since}&limit=100"
        runs = [self.stack.get(f"/v1/runs/{run['id']}") for run in self.stack.get(listed)["runs"]]
        return Counter(one["basin"] for run in runs for one in run["basins"] if one["status"] == "issued")


def last_day() -> date:
    """Return the last day that has ended everywhere, and for which weather has come."""
    return datetime.now(UTC).date() - timedelta(days=2)


def build_image(tour: Tour) -> str:
    """Build the image."""
    tour.stack.compose("build migrate")
    size = int(tour.stack.sh("docker image inspect --format '{{.Size}}' freshet:cpu"))
    tour.images.append(_image(tour.stack))
    require(size <= MAX_IMAGE, f"freshet:cpu has {size / 1e9:.2f} GB, over {MAX_IMAGE / 1e9} GB")
    return f"{size / 1e9:.2f} GB"


def start_as_printed(tour: Tour) -> str:
    """Start as printed, to the first forecast."""
    started = time.monotonic()
    _start(tour.stack)
    return f"first forecast {time.monotonic() - started:.0f} s after `docker compose up`"


def add_basins(tour: Tour) -> str:
    """Add invented basins, and run a daily cycle."""
    sources, last = tour.stack.folder / "sources", last_day()
    invented_basins.write_basins(sources / "basins.csv", tour.count)
    invented_basins.write_days(sources / "days.csv", tour.count, last - timedelta(days=760), last)
    files = "--basins /sources/basins.csv --observations /sources/days.csv"
    tour.freshet(f"ingest tables --product {invented_basins.PRODUCT} {files}")
    name, product = invented_basins.VERSION.parent.name, invented_basins.PRODUCT
    installed = tour.stack.done(tour.stack.post("pretrained", name=name, product=product, promote=True))
    tour.version = installed["result"]["version"]
    return f"{tour.count} basins in a cycle of {tour.cycle():.0f} s"


def rest(tour: Tour) -> str:
    """Do nothing, and measure what that costs."""
    containers = tour.stack.containers()
    before = {one: tour.stack.cpu(one) for one in containers}
    time.sleep(IDLE_SECONDS)
    used = {one: (tour.stack.cpu(one) - before[one]) / IDLE_SECONDS for one in containers}
    shares = sorted(((share, tour.stack.service(one)) for one, share in used.items()), reverse=True)
    outcome = f"{sum(used.values()):.1%} of a core: {', '.join(f'{name} {share:.2%}' for share, name in shares)}"
    require(sum(used.values()) <= MAX_IDLE, f"{outcome}, over {MAX_IDLE:.0%}")
    return outcome


def check_health(tour: Tour) -> str:
    """Run the health check of each container ten times."""
    costs = {}
    for container in tour.stack.containers():
        inspected = json.loads(tour.stack.sh(f"docker inspect {container}"))[0]["Config"]
        kind, *words = inspected["Healthcheck"]["Test"]
        command = ["docker", "exec", container, *(["sh", "-c"] if kind == "CMD-SHELL" else []), *words]
        before = tour.stack.cpu(container)
        for _ in range(10):
            subprocess.run(command, check=True, capture_output=True)
        costs[tour.stack.service(container)] = (tour.stack.cpu(container) - before) / 10
    worst = max(costs, key=lambda name: costs[name])
    require(costs[worst] <= MAX_CHECK, f"that of {worst} takes {costs[worst]:.2f} CPU s, over {MAX_CHECK}")
    return f"at most {costs[worst]:.2f} CPU s ({worst})"


def start_commands(tour: Tour) -> str:
    """Start a command by `docker compose run`."""
    started = time.monotonic()
    tour.freshet("--version")
    seconds = time.monotonic() - started
    require(seconds <= MAX_RUN, f"it takes {seconds:.1f} s, over {MAX_RUN}")
    return f"{seconds:.1f} s"


def kill(tour: Tour) -> str:
    """Kill the workers and the API while a cycle runs."""
    back = []

    def meanwhile() -> None:
        tour.stack.kill("service-worker")
        tour.stack.kill("worker")
        tour.stack.kill("api")
        back.append(until(tour.stack.answers, "the API is away"))

    seconds = tour.cycle(meanwhile)
    require(back[0] <= MAX_BACK, f"the API was away for {back[0]:.0f} s, over {MAX_BACK:.0f}")
    return f"API back after {back[0]:.1f} s; the cycle took {seconds:.0f} s, one forecast a basin"


def restart_servers(tour: Tour) -> str:
    """Restart PostgreSQL and Valkey while a cycle runs."""

    def meanwhile() -> None:
        tour.stack.compose("restart postgres")
        tour.stack.compose("restart valkey")

    seconds = tour.cycle(meanwhile)
    checked = tour.freshet("check").splitlines()[-1]
    return f"the cycle took {seconds:.0f} s, one forecast a basin; {checked}"


def refuse_messages(tour: Tour) -> str:
    """Let Valkey have no memory left."""
    tour.stack.compose("exec -T valkey valkey-cli config set maxmemory 1")
    until(lambda: "no-broker" in tour.stack.degraded(), "`no-broker` is not reported")
    sentence = tour.stack.degraded().get("no-broker", "")
    require("maxmemory" in sentence, f"the broker's own words are missing: {sentence}")
    tour.stack.compose("exec -T valkey valkey-cli config set maxmemory 0")
    seconds = until(lambda: "no-broker" not in tour.stack.degraded(), "`no-broker` is still reported")
    return f"reported in its words; well {seconds:.0f} s after it has memory"


def scale(tour: Tour) -> str:
    """Scale workers up and down while a cycle runs."""

    def to(workers: int) -> None:
        tour.stack.compose(f"up --detach --scale service-worker={workers} --scale worker={workers}")

    def meanwhile() -> None:
        to(3)
        to(1)

    seconds = tour.cycle(meanwhile)
    until(lambda: tour.stack.get("/v1/status")["processes"]["workers"]["service"] == 2, "not two workers of service")
    return f"to 3 and back to 1; the cycle took {seconds:.0f} s, one forecast a basin"


def restore_elsewhere(tour: Tour) -> str:
    """Back up and restore as printed: a copy beside the service."""
    tour.answers = {address: tour.stack.get(address) for address in STEADY}
    for command in tour.stack.printed("Back up and restore"):
        tour.stack.sh(command)
    seconds = until(lambda: tour.copy.answers(port=8001), "the copy does not answer")
    _require_same(tour.answers, tour.copy, port=8001)
    tour.copy.down()
    (file,) = (tour.stack.folder / "backups").iterdir()
    return f"the same answers {seconds:.0f} s after its start; the file has {file.stat().st_size / 1e6:.0f} MB"


def replace_lost(tour: Tour) -> str:
    """Lose the stack with its volumes, and restore in its place."""
    (file,) = (tour.stack.folder / "backups").iterdir()
    tour.stack.down()
    (tour.stack.folder / "small.json").write_text(json.dumps(SMALL_VOLUME))
    tour.stack.files = ["small.json"]
    mounted = '--volume "$PWD/backups:/backups:ro"'
    tour.stack.compose(f"run --rm {mounted} worker restore --send-alerts /backups/{file.name}")
    tour.stack.compose("up --detach")
    until(tour.stack.answers, "the API does not answer")
    _require_same(tour.answers, tour.stack)
    return f"the same answers; a cycle took {tour.cycle():.0f} s"


def fill_volume(tour: Tour) -> str:
    """Fill the volume of PostgreSQL, and make room again."""
    filler = "/var/lib/postgresql/filler"
    tour.stack.compose(f"exec -T postgres sh -c 'head -c 2G /dev/zero > {filler} || true'")
    until(lambda: "disk" in tour.stack.degraded(), "`disk` is not reported")
    require(tour.stack.answers(RIVER), "nothing is read while the volume is full")
    job = None
    with suppress(OSError):  # 507
        job = tour.stack.post("forecast", weather="climatology", basins=invented_basins.names(tour.count))
    time.sleep(20)
    tour.stack.compose(f"exec -T postgres rm {filler}")
    seconds = until(lambda: tour.stack.answers() and "disk" not in tour.stack.degraded(), "`disk` is still reported")
    tour.stack.done(job or tour.stack.post("forecast", weather="climatology", basins=invented_basins.names(tour.count)))
    accepted = "a job that was posted meanwhile is done" if job else "a job that was posted meanwhile is refused"
    return f"`disk` reported, reading goes on; {accepted}, well {seconds:.0f} s after there is room"


def start_earlier(tour: Tour) -> str:
    """Start an earlier commit; it refuses the newer backup."""
    tour.stack.down()
    tour.stack.files = []
    _check_out(tour, tour.earlier)
    _start(tour.stack)
    tour.images.append(_image(tour.stack))
    (newer,) = (tour.stack.folder / "backups").iterdir()
    mounted = '--volume "$PWD/backups:/backups"'
    refusal = tour.copy.compose(f"run --rm {mounted} worker restore /backups/{newer.name} 2>&1 || true")
    require("newer" in refusal, f"the backup is not refused as a newer one's: {refusal}")
    tour.copy.down()
    newer.unlink()
    tour.stack.compose(f"run --rm --no-deps {mounted} worker backup /backups/earlier")
    tour.answers = {RIVER: tour.stack.get(RIVER)}
    return f"commit {tour.earlier[:8]}; {refusal.strip().splitlines()[-1]}"


def upgrade(tour: Tour) -> str:
    """Upgrade it with its data, as printed; its backup is brought up to date."""
    before = tour.stack.get("/v1/status")["database_revision"]
    _check_out(tour, tour.commit)
    started = time.monotonic()
    tour.stack.compose("up --build --detach")
    until(tour.stack.answers, "the API does not answer")
    seconds, after = time.monotonic() - started, tour.stack.get("/v1/status")["database_revision"]
    then, now = tour.answers[RIVER], tour.stack.get(RIVER)
    require([then[key] for key in ("run", "discharge")] == [now[key] for key in ("run", "discharge")], "other answers")
    _forecast(tour.stack)
    tour.freshet("check")
    tour.copy.compose('run --rm --volume "$PWD/backups:/backups:ro" worker restore /backups/earlier')
    tour.copy.down()
    return f"tables from {before} to {after} in {seconds:.0f} s; the same forecast, and a new one"


STEPS = (
    build_image,
    start_as_printed,
    add_basins,
    rest,
    check_health,
    start_commands,
    kill,
    restart_servers,
    refuse_messages,
    scale,
    restore_elsewhere,
    replace_lost,
    fill_volume,
    start_earlier,
    upgrade,
)


def _start(stack: Stack) -> None:
    """Follow the page from nothing to a forecast of a river."""
    outputs = [stack.sh(command) for command in stack.printed("Start")]
    stack.token = next(word for output in outputs for word in output.split() if word.startswith("freshet_"))
    stack.done(stack.post("pretrained", name="freshet-us", promote=True))
    _forecast(stack)
    stack.get(RIVER)


def _forecast(stack: Stack) -> None:
    stack.done(stack.post("forecast", weather="climatology", basins=["USGS-12010000"]))


def _image(stack: Stack) -> str:
    return stack.sh("docker image inspect --format '{{.Id}}' freshet:cpu").strip()


def _check_out(tour: Tour, commit: str) -> None:
    tour.stack.sh(f"git checkout --quiet {commit}")


def _require_same(answers: dict[str, Any], stack: Stack, port: int = 8000) -> None:
    other = [address for address, answer in answers.items() if stack.get(address, port) != answer]
    require(not other, f"other answers at {', '.join(other)}")


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, with passwords and the demonstration's data, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-tour-"))
    try:
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True)
        password = secrets.token_hex(16)
        (folder / "postgres.env").write_text(f"POSTGRES_PASSWORD={password}\n")
        (folder / "freshet.env").write_text(f"PGPASSWORD={password}\n")
        with ZipFile(ROOT / "freshet" / "demo" / "eight_rivers.zip") as archive:
            archive.extractall(folder / "sources" / "camels")
        yield folder
    finally:
        shutil.rmtree(folder)


def require_free() -> None:
    """Raise an OutcomeError where the ports or the names of the projects are in use."""
    for port in (8000, 8001):
        with socket.socket() as probe:
            require(probe.connect_ex(("127.0.0.1", port)) != 0, f"port {port} is in use")
    listed = subprocess.run(["docker", "compose", "ls", "--all", "--quiet"], capture_output=True, text=True, check=True)
    require(not {PROJECT, COPY} & {*listed.stdout.split()}, f"there is a project {PROJECT} or {COPY}: remove it")


def go(tour: Tour) -> bool:
    """Do the steps, and return whether each had the stated outcome; without a stack there are no others."""
    good = True
    for step in STEPS:
        started, title = time.monotonic(), (step.__doc__ or "").splitlines()[0].rstrip(".")
        try:
            outcome = step(tour)
        except FAULTS as fault:
            outcome, good = f"FAILED: {type(fault).__name__} {fault}", False
        print(f"{time.monotonic() - started:6.1f} s  {title}: {outcome}", flush=True)
        if not good and step in STEPS[:2]:
            break
    return good


def commit_of(words: list[str]) -> str:
    """Return the id of the commit that a command of git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Do the tour, and remove what it started; the exit code is 1 where a step failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--earlier", help="The commit to upgrade from; by default the one before the newest revision.")
    before_revision = ["log", "-1", "--no-merges", "--diff-filter=A", "--format=%H^", "--", "migrations/versions"]
    parser.add_argument(
        "--basins", type=int, default=BASINS, help=f"The number of invented basins, by default {BASINS}."
    )
    asked = parser.parse_args()
    earlier = asked.earlier or commit_of(before_revision)
    require_free()
    head = commit_of(["rev-parse", "HEAD"])
    with checkout(head) as folder:
        tour = Tour(Stack(folder, PROJECT), Stack(folder, COPY), head, commit_of(["rev-parse", earlier]), asked.basins)
        try:
            good = go(tour)
        finally:
            tour.stack.files = []
            for stack in (tour.stack, tour.copy):
                stack.down()
            for image in tour.images:
                if image != _image(tour.stack):
                    subprocess.run(["docker", "image", "rm", image], check=False, capture_output=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
