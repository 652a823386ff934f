"""The secrets of webhooks follow from one key, which its owner alone can read."""

import errno
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from records.alerts import signatures
from records.alerts.signatures import KEY_BYTES, KEY_FILE, NoWebhookKey, secret, service_key, signed_headers
from runtime.settings import Settings


def test_the_key_is_created_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    with ThreadPoolExecutor(8) as pool:
        created = {*pool.map(lambda _: service_key(settings), range(8))}
    (key,) = created
    file = settings.data / KEY_FILE
    assert (len(key), file.read_bytes(), oct(file.stat().st_mode)[-3:]) == (KEY_BYTES, key, "600")
    assert [path.name for path in settings.data.iterdir()] == [KEY_FILE]


def test_one_key_is_created_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    test_the_key_is_created_once_for_its_owner_alone(tmp_path)


def test_a_damaged_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"half")
    with pytest.raises(NoWebhookKey, match=r"restore it, or delete it and rotate the secret of every subscription"):
        service_key(Settings(data=tmp_path))


def test_a_key_in_the_settings_takes_precedence_and_no_file_is_created(tmp_path: Path) -> None:
    assert service_key(Settings(data=tmp_path, webhook_key="k" * 32)) == b"k" * 32
    assert [*tmp_path.iterdir()] == []


def test_every_subscription_and_every_generation_has_a_secret_of_its_own() -> None:
    secrets = {secret(key, one, number) for key in (b"a", b"b") for one in ("1", "2") for number in (1, 2)}
    assert len(secrets) == 8
    assert {len(b64decode(one.removeprefix("whsec_"), validate=True)) for one in secrets} == {32}
    assert signatures.secret(b"a", "1", 1) in secrets


def test_a_message_is_signed_as_in_the_specifications_test_vector() -> None:
    """That of `test_sign_function` in the Standard Webhooks libraries (Python, Go, C# and others)."""
    key, message = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    at, body = datetime.fromtimestamp(1614265330, UTC), b'{"test": 2432232314}'
    headers = {"webhook-id": message, "webhook-timestamp": "1614265330"}
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signed_headers([key], message, at, body) == headers | {"webhook-signature": signature}


def test_each_valid_secret_adds_a_signature() -> None:
    old, new = secret(b"a", "1", 1), secret(b"a", "1", 2)
    at = datetime(2026, 11, 23, 6, 0, 0, 900_000, UTC)
    alone = [signed_headers([one], "id", at, b"{}")["webhook-signature"] for one in (new, old)]
    assert signed_headers([new, old], "id", at, b"{}")["webhook-signature"] == " ".join(alone)
    assert alone[0] != alone[1]
