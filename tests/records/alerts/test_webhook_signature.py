"""The secrets of webhooks follow from one key, which its owner alone can read."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from records.alerts import webhook_signature
from records.alerts.webhook_signature import KEY_BYTES, KEY_FILE, NoWebhookKey, secret, service_key
from runtime.settings import Settings


def test_the_key_is_created_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    with ThreadPoolExecutor(8) as pool:
        created = {*pool.map(lambda _: service_key(settings), range(8))}
    (key,) = created
    file = settings.data / KEY_FILE
    assert (len(key), file.read_bytes(), oct(file.stat().st_mode)[-3:]) == (KEY_BYTES, key, "600")
    assert [path.name for path in settings.data.iterdir()] == [KEY_FILE]


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
    assert {len(one) for one in secrets} == {len("freshet_webhook_") + 43}
    assert webhook_signature.secret(b"a", "1", 1) in secrets
