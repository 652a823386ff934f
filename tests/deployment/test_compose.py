"""The compose file: valid, whole, and without secrets."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jobspec.jobs.base import GPU, QUEUES
from tests.deployment.files import COMPOSE, OWN_IMAGES, ROOT, compose, own_services, services, stages


def schema_check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_follows_the_compose_specification(tmp_path: Path) -> None:
    result = schema_check(COMPOSE)
    assert result.returncode == 0, result.stdout + result.stderr
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(COMPOSE.read_text().replace("restart:", "restarts:"))
    assert schema_check(wrong).returncode != 0


@pytest.mark.parametrize("name", services())
def test_no_log_grows_without_end(name: str) -> None:
    log = services()[name]["logging"]
    assert log["driver"] == "local"
    assert {"max-size", "max-file"} <= log["options"].keys()


@pytest.mark.parametrize("name", services())
def test_each_service_is_started_again_and_its_health_is_known(name: str) -> None:
    one = services()[name]
    if name == "migrate":
        assert (one["restart"], one["healthcheck"]) == ("no", {"disable": True})
        return
    assert one["restart"] == "unless-stopped"
    if one.get("command", [""])[0] != "api":  # the API has the health check of the image
        assert one["healthcheck"]["test"][0].startswith("CMD")
        assert one["healthcheck"]["test"][1] != "freshet"  # it would load the service for each check


def test_every_condition_a_service_waits_for_can_be_met() -> None:
    found = services()
    for one in found.values():
        for name, how in one.get("depends_on", {}).items():
            if how["condition"] == "service_completed_successfully":
                assert found[name]["restart"] == "no"
            else:
                assert how["condition"] == "service_healthy"
                assert "test" in found[name]["healthcheck"]
            assert "profiles" not in found[name]


def test_named_volumes_are_declared_and_data_are_shared() -> None:
    mounted = {volume.split(":")[0] for one in services().values() for volume in one["volumes"]}
    assert {name for name in mounted if not name.startswith(".")} == set(compose()["volumes"])
    assert all("data:/data" in one["volumes"] for one in own_services().values())


def test_ours_write_nowhere_but_to_their_data_and_may_do_nothing_special() -> None:
    for name, service in own_services().items():
        assert service["read_only"], name
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_every_queue_has_a_worker_without_a_gpu_and_training_one_with() -> None:
    workers = [one for one in own_services().values() if one["command"][0] == "worker"]
    plain = [one for one in workers if "profiles" not in one]
    assert sorted(one["command"][one["command"].index("--queue") + 1] for one in plain) == sorted({*QUEUES} - {GPU})
    (gpu,) = (one for one in workers if "profiles" in one)
    assert gpu["command"] == ["worker", "--queue", GPU, "--queue", "training", "--device", "cuda:0"]
    assert (gpu["profiles"], gpu["image"], gpu["build"]["target"]) == (["gpu"], "freshet:cuda", "cuda")
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert "gpu" in device["capabilities"]


def test_an_image_is_built_once_from_the_target_of_its_name() -> None:
    built = [one for one in own_services().values() if "build" in one]
    assert sorted(one["image"] for one in built) == sorted(OWN_IMAGES)
    for one in built:
        assert one["image"] == f"freshet:{one['build']['target']}"
        assert one["build"]["target"] in stages()
    assert {one["image"] for one in own_services().values()} == OWN_IMAGES
    assert {one["pull_policy"] for one in own_services().values()} == {"never"}  # no registry has them


def test_secrets_come_from_the_environment_file_alone() -> None:
    for name, one in services().items():
        for variable, value in one.get("environment", {}).items():
            assert not re.search("PASSWORD|SECRET|TOKEN|KEY", variable)
            assert not re.search("://[^/]*:[^/]*@", str(value))
        assert one.get("env_file") == {"valkey": None, "postgres": "postgres.env"}.get(name, "freshet.env")
    for file in ("freshet.env", "postgres.env"):
        assert file in (ROOT / ".gitignore").read_text().splitlines()
        assert f"!{file}" not in (ROOT / ".dockerignore").read_text()


def test_the_outside_reaches_the_api_alone() -> None:
    (published,) = (one["ports"] for one in services().values() if "ports" in one)
    assert published == ["127.0.0.1:8000:8000"]
    assert services()["api"]["ports"] == published


def test_no_registry_is_named() -> None:
    bases = [result.split("=")[-1] for name, result in stages()[""] if name == "ARG"]
    assert bases
    for image in [*bases, *(one["image"].split(":-")[-1] for one in services().values())]:
        assert "." not in image.split("/")[0] or "/" not in image
    for file in (COMPOSE, ROOT / "Dockerfile"):
        assert "https://" not in file.read_text()
