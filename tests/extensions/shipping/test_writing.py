"""Members that several programs write into one folder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from extensions.shipping.writing import Finished, write
from models.pretrained import SHELF, form
from models.pretrained.form import CARD

PROGRAMS = 8


def test_programs_that_finish_members_at_once_lose_none(tmp_path: Path) -> None:
    shipped = form.read(SHELF / "mclstm-maurer-447")
    weights = shipped.weights[0]
    origin = form.Origin.model_validate(shipped.description.model_dump(exclude={"members"}))
    members = [Finished(label, label, weights, {"seconds": 1.0}) for label in range(PROGRAMS)]
    (tmp_path / CARD).write_text("A card.\n")
    with ThreadPoolExecutor(PROGRAMS) as programs:
        written = list(programs.map(lambda member: write(tmp_path, origin, [member]), members))
    assert sorted(form.read(tmp_path).weights) == list(range(PROGRAMS))
    assert sorted(len(one.members) for one in written) == list(range(1, PROGRAMS + 1))
