"""Settings of an extension are checked with those of the core."""

import pytest

from runtime.settings import BadSettings, Settings


def test_an_address_that_cannot_be_used_is_found_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_API_URL", "https://user:secret@rivers.example")
    with pytest.raises(BadSettings, match="FRESHET_API_URL: write http") as refused:
        Settings.load()
    assert "secret" not in str(refused.value)
