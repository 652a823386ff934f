"""Basins that a fold never saw, with a vector of each fitted to two years of its own observations.

Only the vectors are fitted, by the same code as `freshet train --from VERSION --set fitted=basin_vectors`; scored in
the test years, as the folds are.
"""

from collections.abc import Sequence

import torch

from benchmarks.regional.data import opened, require_all
from hydrology.base.absent import texts
from jobspec.training import FineTuningConfig
from models import checkpoint
from models.contract import with_room
from models.ensemble import Ensemble
from models.forcing import Scaler, places
from models.pretrained import form
from models.training import MemberTraining
from operations.training.training_data import VECTORS, prepare

OBSERVED = "2006-10-01..2008-09-30"


def fitted(shipped: form.Ensemble, basins: Sequence[str]) -> Ensemble:
    """Return an ensemble that has vectors of some basins that it has not learnt from."""
    description = shipped.description
    tuning = FineTuningConfig.model_validate({"parent": "0" * 22, "train_period": OBSERVED, "fitted": "basin_vectors"})
    config = tuning.training(description.config, len(description.members))
    database = opened()
    with database.reading() as session:
        prepared = prepare(session, config, basins)
    database.close()
    require_all(texts(prepared.left_out))
    scaler = Scaler.from_json(description.scaler)
    learnt_from = (*description.basins, *prepared.basins)
    before = torch.as_tensor(places(sorted(description.basins), learnt_from))
    weights = {}
    for member in description.members:
        start, _ = checkpoint.parse(shipped.weights[member.label])
        start = {name: tensor.float() for name, tensor in start.items()}
        start[VECTORS] = with_room(start[VECTORS], before, len(learnt_from))
        training = MemberTraining(config, prepared.data, scaler, member.label, start=start, learnt_from=learnt_from)
        weights[member.label] = training.run().last
    return Ensemble.load(config, scaler, weights, learnt_from)
