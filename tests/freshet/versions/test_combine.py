"""`freshet models combine`, and a forecast by what it makes."""

import pytest

from tests.freshet.conftest import PERIODS, SMALL, Freshet

pytestmark = pytest.mark.extended


@pytest.fixture
def two(worked: Freshet) -> tuple[str, str]:
    """The ids of two versions."""
    second = worked("train", *PERIODS, *SMALL, "--members", "1", "--set", "seed=7", "--json").json["version"]
    stored = [one["id"] for one in worked("models", "list", "--json").json["models"]]
    assert stored[0] == second
    return stored[1], stored[0]


def test_versions_are_combined_once_with_their_weights(worked: Freshet, two: tuple[str, str]) -> None:
    first, second = two
    combined = worked("models", "combine", f"{first}:7", f"{second}:3", "--label", "both", "--json")
    assert (combined.code, combined.json["weights"]) == (0, {first: 0.7, second: 0.3})
    assert worked("models", "combine", f"{first}:0.7", f"{second}:0.3", "--json").json == combined.json
    shown = worked("models", "show", combined.json["version"])
    assert all(version in shown.out for version in two)
    assert "weight 0.7" in " ".join(shown.out.split())
    issued = worked("forecast", "--version", combined.json["version"], "--json")
    (run,) = issued.json["runs"]
    assert worked("runs", run["run"], "--json").json["members"] == 3
    again = worked("reproduce", run["run"], "--json")
    assert again.code == 0
    states = worked("states", "SYNTH-01", "--version", combined.json["version"])
    assert (states.code, first in states.err) == (2, True)


def test_weights_are_learnt_where_none_is_given(worked: Freshet, two: tuple[str, str]) -> None:
    learnt = worked("models", "combine", *two, "--period", "2004-10-01..2005-03-31", "--json")
    if learnt.code:  # one of them alone is best
        assert "nothing has to be combined" in learnt.err
    else:
        assert sum(learnt.json["weights"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "parts", [("{0}:0.5", "{1}"), ("{0}:x", "{1}:1"), ("{0}:1", "{0}:1"), ("{0}:1",), ("{0}:1", "none:1")]
)
def test_what_cannot_be_combined_is_refused_in_words(
    worked: Freshet, two: tuple[str, str], parts: tuple[str, ...]
) -> None:
    refused = worked("models", "combine", *(part.format(*two) for part in parts))
    assert refused.code in (2, 3)
    assert refused.err
