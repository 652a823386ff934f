"""The stages of a long piece of work are reported by name and number; a short one is silent."""

import pytest

from operations.versions import stages
from operations.versions.stages import report_progress_to, single, with_progress

Shown = list[tuple[str, int, int]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setattr(stages, "QUIET_SECONDS", -1.0)  # every piece of work is a long one
    return []


def test_each_piece_of_a_stage_is_counted(shown: Shown) -> None:
    with report_progress_to(lambda *seen: shown.append(seen)):
        assert list(with_progress("basins", "abc")) == ["a", "b", "c"]
        assert list(with_progress("forecasts", iter("ab"), 2)) == ["a", "b"]
    assert shown == [*(("basins", done, 3) for done in range(4)), *(("forecasts", done, 2) for done in range(3))]


def test_one_piece_is_reported_before_and_after(shown: Shown) -> None:
    with report_progress_to(lambda *seen: shown.append(seen)):
        assert single("error model", lambda: list(shown)) == [("error model", 0, 1)]
    assert shown[-1] == ("error model", 1, 1)


def test_short_work_is_not_reported() -> None:
    seen: Shown = []
    with report_progress_to(lambda *one: seen.append(one)):
        assert list(with_progress("basins", "abc")) == ["a", "b", "c"]
    assert seen == []


def test_work_without_an_observer_goes_on(shown: Shown) -> None:
    with report_progress_to(lambda *seen: shown.append(seen)):
        pass
    assert list(with_progress("basins", "abc")) == ["a", "b", "c"]
    assert shown == []
