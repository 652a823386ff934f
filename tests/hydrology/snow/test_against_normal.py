"""The model's percentage stands alone only where no other estimate lies outside the range of its members."""

import pytest

from hydrology.snow.against_normal import REFERENCE, SNOW17, ModelSnow, SnowEstimate, snow_against_normal

MODEL = ModelSnow(85.0, 100.0, low=80.0, high=92.0)
WITHOUT_NORMAL = ModelSnow(85.0, None, low=80.0, high=92.0)


@pytest.mark.parametrize(
    ("model", "reference", "in_words"),
    [
        (MODEL, SnowEstimate(310.0, 200.0), "uncertain: model 85 %, reference 155 %"),
        (MODEL, SnowEstimate(180.0, 200.0), "85 % of normal"),  # 90 %: biases in mm cancel
        (MODEL, SnowEstimate(184.9, 200.0), "85 % of normal"),  # rounds to the end of the range
        (MODEL, SnowEstimate(159.0, 200.0), "85 % of normal"),
        (MODEL, SnowEstimate(158.0, 200.0), "uncertain: model 85 %, reference 79 %"),
        (MODEL, SnowEstimate(90.0, None), "85 % of normal"),
        (MODEL, SnowEstimate(120.0, None), "uncertain: model 85 mm, reference 120 mm"),
        (MODEL, SnowEstimate(0.0, 0.5), "uncertain: model 85 mm, reference 0 mm"),
        (WITHOUT_NORMAL, SnowEstimate(90.0, 200.0), "85 mm"),
        (
            ModelSnow(85.0, None, low=80.0, high=92.0),
            SnowEstimate(60.0, 60.0),
            "uncertain: model 85 mm, reference 60 mm",
        ),
        (ModelSnow(0.9, 0.5, low=0.8, high=0.9), SnowEstimate(0.0, 0.2), "less than 1 mm"),
        (ModelSnow(0.0, 20.0, low=0.0, high=0.0), SnowEstimate(30.0, 15.0), "uncertain: model 0 %, reference 200 %"),
    ],
)
def test_what_is_reported_beside_a_reference(model: ModelSnow, reference: SnowEstimate, in_words: str) -> None:
    judged = snow_against_normal(model, {REFERENCE: reference})
    assert judged.in_words == in_words
    assert (judged.uncertain is not None) == in_words.startswith("uncertain")
    assert judged.percent == model.percent


def test_without_another_estimate_the_model_stands_alone() -> None:
    judged = snow_against_normal(MODEL, {})
    assert (judged.percent, judged.uncertain, judged.in_words) == (85.0, None, "85 % of normal")


def test_every_estimate_that_differs_is_named_with_its_reason() -> None:
    others = {REFERENCE: SnowEstimate(306.0, 200.0), SNOW17: SnowEstimate(70.0, 100.0)}
    judged = snow_against_normal(MODEL, others)
    assert judged.in_words == "uncertain: model 85 %, reference 153 %, Snow-17 70 %"
    assert str(judged.uncertain) == (
        "The estimates differ (model 85 %, reference 153 %, Snow-17 70 %), beyond the range of the model's members "
        "(80 % to 92 %): trust neither."
    )
