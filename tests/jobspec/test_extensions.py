"""Which extensions are loaded."""

import pytest

from jobspec.extensions import UnknownExtension, selected

INSTALLED = {"bmi": None, "edr": None}


@pytest.mark.parametrize(
    ("setting", "names"),
    [(None, {"bmi", "edr"}), ("", set()), ("edr", {"edr"}), (" edr, bmi,", {"bmi", "edr"})],
)
def test_the_setting_names_extensions_and_without_it_all_are_loaded(setting: str | None, names: set[str]) -> None:
    assert selected(setting, INSTALLED) == names


def test_an_extension_that_is_not_installed_is_named_beside_those_that_are() -> None:
    with pytest.raises(UnknownExtension, match="FRESHET_EXTENSIONS names erd: choose from bmi, edr"):
        selected("erd,bmi", INSTALLED)
