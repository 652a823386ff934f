"""Writes training curves as event files of TensorBoard."""

from itertools import groupby
from pathlib import Path

from sqlalchemy.orm import Session

from extensions.curves.endpoints import curves_of
from hydrology.base.errors import InvalidInput
from records.versions import versions

CURVES = ("loss", "learning_rate", "gradient_norm", "validation_nse")


class EventWriter:
    """Writes the curves of versions below a folder, a run of TensorBoard for each member.

    Raises:
        InvalidInput: TensorBoard is not installed, or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise InvalidInput(
                "TensorBoard is not installed, so no event files can be written: pip install tensorboard."
            ) from None
        self._folder, self._event, self._summary, self._file = folder, Event, Summary, EventFileWriter
        self._create(folder)

    def __call__(self, session: Session, version: str) -> list[Path]:
        """Write the curves of a version in place of earlier ones, and return the folders."""
        curves, trained_at = curves_of(session, version), versions.get(session, version).created_at.timestamp()
        written = []
        for member, points in groupby(curves.points, key=lambda point: point.member):
            run = self._folder / f"{version}-member-{member}"
            self._create(run)
            for earlier in run.glob("events.out.tfevents.*"):
                earlier.unlink()
            file = self._file(str(run))
            for point in points:
                known = {name: value for name in CURVES if (value := getattr(point, name)) is not None}
                values = [self._summary.Value(tag=name, simple_value=value) for name, value in known.items()]
                file.add_event(self._event(wall_time=trained_at, step=point.step, summary=self._summary(value=values)))
            file.close()
            written.append(run)
        return written

    def _create(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{folder} cannot be written ({error.strerror}): choose another folder.") from None
