"""`freshet train --judge-on`: a version takes over where it is shown to be better on held-out years."""

import json
from pathlib import Path

import pytest

from jobspec.training import STATIC_ATTRIBUTES
from tests.freshet.conftest import (
    BASINS,
    NETWORK,
    PERIODS,
    SMALL,
    WINDOWS,
    Freshet,
    ingested_from,
    settings,
    worked_from,
)
from tests.shared_folders import country_until

pytestmark = pytest.mark.extended

HELD_OUT = "2005-10-01..2009-09-30"


@pytest.fixture(scope="session")
def country(shared: Path) -> Path:
    """Three basins with a record long enough to decide on: 2000-10-01..2009-09-30."""
    return country_until("2009-09-30", shared)


# Everything that depends on the country is computed from this one too, whatever other modules do with theirs.
@pytest.fixture(scope="session")
def ingested_data(country: Path) -> Path:
    """A data folder with the country."""
    return ingested_from(country)


@pytest.fixture(scope="session")
def worked_data(ingested_data: Path) -> Path:
    """A data folder with the country, a version and a run."""
    return worked_from(ingested_data)


def test_a_version_is_fine_tuned_and_decided_on_by_one_command(ingested: Freshet) -> None:
    plain = settings(  # in so few steps others learn next to nothing, or not enough in every year
        network__rank=0,
        network__basin_vector=0,
        network__antecedent_days=[],
        inputs__static=json.dumps(STATIC_ATTRIBUTES),
    )
    parent = ingested("train", *PERIODS, *SMALL, *plain, "--basin", BASINS[0], "--json").json["version"]
    tuning = (
        "train",
        "--from",
        parent,
        "--basin",
        BASINS[2],
        *PERIODS,
        *WINDOWS,
        *settings(schedule__peak_learning_rate=0.02),
    )
    quiet = ingested(*tuning, *settings(schedule__steps=3), "--json")
    judged = ingested(*tuning, *settings(schedule__steps=40), "--judge-on", HELD_OUT, "--json")

    assert (quiet.code, quiet.json["basins"], quiet.json["promoted"]) == (0, 1, [])
    assert "decision" not in quiet.json
    decision = judged.json["decision"]
    assert (decision["current"], decision["better"], decision["promoted"]) == ([parent], True, [BASINS[2]])
    assert decision["deciding"]["difference"]["low"] > 0
    assert decision["deciding"]["years"] == [2006, 2007, 2009]
    assert decision["reporting"]["years"] == [2008]
    assert decision["sentence"] in judged.err.replace("\n", " ")
    stored = ingested("models", "show", judged.json["version"], "--json").json
    assert (stored["parent"], stored["basins"]) == (parent, [BASINS[0], BASINS[2]])
    assert stored["config"]["network"]["cells"] == 4
    assert parent in ingested("models", "show", judged.json["version"]).out


def test_a_version_trained_from_scratch_is_decided_on_too(worked: Freshet) -> None:
    (first,) = worked("models", "list", "--json").json["models"]
    longer = settings(schedule__steps=60, schedule__peak_learning_rate=0.03)
    judged = worked("train", *PERIODS, *NETWORK, *WINDOWS, *longer, "--judge-on", HELD_OUT, "--json")

    decision = judged.json["decision"]
    assert (decision["current"], decision["better"]) == ([first["id"]], True)
    assert judged.json["promoted"] == []
    assert decision["promoted"] == list(BASINS)
    assert "Basins that use it from now on: SYNTH-01, SYNTH-02, SYNTH-03." in judged.err.replace("\n", " ")
