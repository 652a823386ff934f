"""The account of a soak: by how much something grows, and which answers failed without a fault."""

import pytest

from benchmarks.soak.account import of_answers
from benchmarks.soak.clients import Answer
from benchmarks.soak.holdings import per_hour


def test_growth_is_that_within_lives_and_not_between_them() -> None:
    small = [(second, 10 + second / 3600) for second in (0.0, 60.0, 120.0)]
    large = [(second, 500 + second / 3600) for second in (200.0, 260.0, 320.0)]
    assert per_hour([small, large]) == pytest.approx(1.0)


def test_too_few_samples_have_no_growth() -> None:
    assert per_hour([[(0.0, 1.0), (5.0, 2.0)]]) is None


def test_a_failed_answer_is_set_beside_the_fault_that_was_under_way() -> None:
    before, during, after = (
        Answer("GET /", 1.0, 2.0, 500),
        Answer("GET /", 9.0, 11.0, None),
        Answer("GET /", 31.0, 32.0, 200),
    )
    shown = of_answers([before, during, after], windows=[(10.0, 30.0)])
    assert shown["failed_under_a_fault"] == 1
    assert shown["failed_without_a_fault"] == [{"route": "GET /", "status": 500, "second": 0.0}]
    assert shown["routes"] == {"GET /": {"5xx": 1, "none": 1, "2xx": 1}}
