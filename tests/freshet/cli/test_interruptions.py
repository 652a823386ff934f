"""A training that is stopped, gently or not, goes on from its checkpoint to the very same weights."""

import shutil
import signal
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

from records.database.engine import Database
from records.versions.trainings import CHECKPOINTS
from tests.freshet.conftest import Freshet, RequestModel, settings
from tests.freshet.processes import started

pytestmark = pytest.mark.extended

TRAINING = (
    *("train", "--train-period", "2001-10-01..2003-09-30", "--basin", "SYNTH-01", "--basin", "SYNTH-03"),
    *settings(network__cells=4, windows__spinup_days=30, windows__loss_days=30, windows__batch=2),
    *settings(schedule__steps=200, checkpoint_every=10),
)
PATIENCE = 60  # seconds


@pytest.fixture(scope="module")
def uninterrupted(ingested_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of the weights that the training leads to in one go."""
    freshet = Freshet(Path(shutil.copytree(ingested_data, tmp_path_factory.mktemp("uninterrupted") / "copy")))
    return _weights(freshet, freshet(*TRAINING, "--json"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_a_stopped_training_goes_on_to_the_same_weights(
    ingested: Freshet, uninterrupted: str, how: signal.Signals
) -> None:
    with started(ingested.data, *TRAINING, "--json") as process:
        _await_checkpoint(ingested.data)
        process.send_signal(how)
        out, err = process.communicate(timeout=PATIENCE)
    resumed = ingested(*TRAINING, "--json", FRESHET_LOG_LEVEL="info")

    assert process.returncode == (130 if how is signal.SIGINT else -how)
    assert ("Interrupted. Finished work is stored" in err) is (how is signal.SIGINT)
    assert out == ""
    assert "Traceback" not in err
    assert '"event": "train.resume"' in resumed.err
    assert resumed.json["already"] is False
    assert _weights(ingested, resumed) == uninterrupted


def _await_checkpoint(data: Path) -> None:
    database = Database(f"sqlite:///{data / 'freshet.sqlite'}")
    end = time.monotonic() + PATIENCE
    try:
        while True:
            with database.reading() as session:
                if session.scalar(select(func.count()).select_from(CHECKPOINTS)):
                    return
            assert time.monotonic() < end, "no checkpoint was stored"
            time.sleep(0.02)
    finally:
        database.close()


def _weights(freshet: Freshet, trained: RequestModel) -> str:
    assert trained.code == 0, trained.err
    version = freshet("models", "show", trained.json["version"], "--json").json
    return str(version["weights_hash"])
