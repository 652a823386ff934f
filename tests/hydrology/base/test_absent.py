"""Reasons of missing values."""

import pytest

from hydrology.base.absent import Absent, absent, first_texts, text, texts
from hydrology.base.reasons import Reason
from records.database import base
from records.database.checksums import Corrupt

PARTS = {
    Reason.COMPUTE_CLIMATE,
    Reason.GIVE_AREA,
    Reason.GIVE_ATTRIBUTES,
    Reason.GIVE_OR_ASSUME_ATTRIBUTES,
    Reason.NEGATIVE_WATER,
}
"""Reasons that are parameters of others."""


def test_text_has_the_parameters_and_the_text_of_a_cause() -> None:
    cause = absent(Reason.FAILED, message="The file ends in line 3.")
    assert str(absent(Reason.FAILED, message=cause)) == "The file ends in line 3."


@pytest.mark.parametrize("parameters", [{}, {"message": "x", "basin": "y"}, {"basin": "y"}])
def test_parameters_are_those_of_the_text(parameters: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="message"):
        absent(Reason.FAILED, **parameters)


def test_texts_are_sentences_or_parts_of_one() -> None:
    assert {reason for reason in Reason if not reason.value.endswith((".", "}"))} <= set(PARTS)


def test_a_stored_reason_is_its_code_and_parameters() -> None:
    reason = absent(Reason.FAILED, message=absent(Reason.NO_BARE_DAY))
    stored = base.to_json(reason)
    assert stored == {"code": "failed", "parameters": {"message": {"code": "no_bare_day", "parameters": {}}}}
    assert base.from_json(Absent, stored) == reason


def test_an_unknown_code_is_reported() -> None:
    with pytest.raises(Corrupt, match="no reason is named"):
        base.from_json(Absent, {"code": "gone", "parameters": {}})


def test_a_reader_gets_texts() -> None:
    missing = {str(number): absent(Reason.FAILED, message=f"File {number} is damaged.") for number in range(4)}
    assert texts(missing)["3"] == text(missing["3"]) == "File 3 is damaged."
    assert first_texts(missing) == "File 0 is damaged. File 1 is damaged. File 2 is damaged."
    assert text(None) is None
