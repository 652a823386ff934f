"""What the audit trail calls the places that data came from."""

import pytest

from operations.upkeep.audit_details import shown

PLACES = {"/srv/camels": "", "/data/downloads/0a1b/camels.zip": "https://example.org/camels.zip"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("https://river:secret@example.org/a.zip?token=secret", "https://example.org/a.zip"),
        ("https://example.org:8443/a.zip#sha256=" + "0" * 64, "https://example.org:8443/a.zip#sha256=" + "0" * 64),
        ("https://example.org/a.zip#secret", "https://example.org/a.zip"),
        ("/srv/camels/usgs/01/a.txt", "usgs/01/a.txt"),
        ("/srv/camels/flow.zip!usgs/a.txt", "flow.zip!usgs/a.txt"),
        ("/data/downloads/0a1b/camels.zip!a.txt", "https://example.org/camels.zip!a.txt"),
        ("/home/somebody/a.txt", "a.txt"),
    ],
)
def test_a_place_is_shown_without_secrets_and_folders(name: str, expected: str) -> None:
    assert shown(name, PLACES) == expected
