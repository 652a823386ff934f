"""A stack of the service in containers, as the tour starts it, and its API's answers."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

PAGE = Path("docs/do/deployment.md")
PATIENCE = 300.0  # seconds


class OutcomeError(Exception):
    """The outcome of a step is not the stated one."""


def require(holds: object, sentence: str) -> None:
    """Raise an OutcomeError with a sentence where something does not hold."""
    if not holds:
        raise OutcomeError(sentence)


def until(holds: Callable[[], object], sentence: str, seconds: float = PATIENCE) -> float:
    """Wait until something holds, and return the seconds; raise an OutcomeError where that takes too long."""
    started = time.monotonic()
    while not holds():
        require(time.monotonic() < started + seconds, f"{sentence} for {seconds:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - started


@dataclass
class Stack:
    """A project of Docker Compose in the folder of a checkout; `token` is that of an administrator's key."""

    folder: Path
    project: str
    token: str = ""
    files: list[str] = field(default_factory=list)

    def sh(self, command: str) -> str:
        """Run a command as it is printed in the guide, in this project, and return its output."""
        result = subprocess.run(
            ["bash", "-euc", command],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        output = result.stdout + result.stderr
        require(result.returncode == 0, f"exit code {result.returncode} of {command}:\n{output[-3000:]}")
        return result.stdout

    def compose(self, command: str) -> str:
        """Run a command of Docker Compose in this project, and return its output."""
        return self.sh(f"docker compose {command}")

    def printed(self, section: str) -> list[str]:
        """Return the commands of the blocks with `docker compose` in a section of the guide's page."""
        page = (self.folder / PAGE).read_text(encoding="utf-8")
        (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        lines = "".join(block for block in blocks if "docker compose" in block).replace("\\\n", " ")
        return [line for line in lines.splitlines() if "--profile gpu" not in line]

    def containers(self, service: str = "") -> list[str]:
        """Return the ids of the running containers: of a service, or of all."""
        return self.compose(f"ps --quiet {service}").split()

    def service(self, container: str) -> str:
        """Return the service of a container."""
        label = '{{index .Config.Labels "com.docker.compose.service"}}'
        return self.sh(f"docker inspect --format '{label}' {container}").strip()

    def kill(self, service: str) -> None:
        """Kill all processes of a service's container: unlike `docker kill`, that counts as a crash."""
        self.sh(f"docker compose exec -T {service} sh -c 'kill -KILL -1' || true")

    def cpu(self, container: str) -> float:
        """Return the CPU seconds that a container has used."""
        places = "/sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpuacct/cpuacct.usage"
        words = self.sh(f"docker exec {container} sh -c 'cat {places} 2>/dev/null || true'").split()
        return int(words[1]) / 1e6 if words[0] == "usage_usec" else int(words[0]) / 1e9

    def get(self, address: str, port: int = 8000) -> Any:
        """Return the JSON that an address of the API answers; raise OSError where that is an error."""
        return self._ask(Request(f"http://127.0.0.1:{port}{address}"))

    def answers(self, address: str = "/health/ready", port: int = 8000) -> bool:
        """Return whether an address of the API answers, and no error."""
        try:
            self.get(address, port)
        except (OSError, HTTPException):
            return False
        return True

    def degraded(self) -> dict[str, str]:
        """Return the degradations that the service reports: sentences by code; none while it does not answer."""
        try:
            return {one["code"]: one["sentence"] for one in self.get("/v1/status")["degraded"]}
        except (OSError, HTTPException):
            return {}

    def post(self, kind: str, **params: object) -> str:
        """Post a job, and return its id."""
        body = json.dumps({"kind": kind, "params": params}).encode()
        job: str = self._ask(Request("http://127.0.0.1:8000/v1/jobs", body, {"Content-Type": "application/json"}))["id"]
        return job

    def done(self, job: str) -> dict[str, Any]:
        """Return a job when it has succeeded, whatever happens to the API meanwhile."""
        last: dict[str, Any] = {"status": "posted"}

        def ended() -> bool:
            if self.answers(f"/v1/jobs/{job}"):
                last.update(self.get(f"/v1/jobs/{job}"))
            return last["status"] in ("succeeded", "failed", "cancelled")

        until(ended, f"job {job} is unfinished", 2 * PATIENCE)
        require(last["status"] == "succeeded", f"job {job} {last['status']}: {last.get('problem')}")
        return last

    def down(self) -> None:
        """Remove the containers, networks and volumes of the project."""
        self.compose("down --volumes --remove-orphans --timeout 10")

    def _ask(self, request: Request) -> Any:
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def _environment(self) -> dict[str, str]:
        files = os.environ.get("COMPOSE_FILE", "docker-compose.yml").split(os.pathsep)
        return os.environ | {
            "COMPOSE_PROJECT_NAME": self.project,
            "COMPOSE_FILE": os.pathsep.join([*files, *self.files]),
        }
