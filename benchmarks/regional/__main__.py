"""`python -m benchmarks.regional trial RECIPE [SEED]`, `... mean [WEIGHT:]RECIPE-SEED ...`, `... train SERIES [MEMBER
...]`, `... score SERIES`, `... examine ENSEMBLE`, `... snow-stores NAME-SEED`, `... published`, `... weights
[COMBINATION ...]`, `... ship-us`, `... ship-errors ENSEMBLE`, `... ship-snow ENSEMBLE`, `... ship-skill ENSEMBLE`,
`... ship-physics`, `... land`, `... signatures`, `... draw`.

FRESHET_CAMELS names the data, FRESHET_DATA the folder of the database; both trainings go on from where they stopped.
"""

import argparse

from benchmarks.regional import (
    examination,
    members,
    published,
    score,
    shipped_physics,
    shipped_skill,
    snow_cells,
    snow_stores,
    trials,
    us,
)
from benchmarks.regional.own_gauges import land, signatures
from benchmarks.regional.pictures import drawn
from benchmarks.regional.recipes import RECIPES
from freshet.cli.context import cores
from models.devices import use_cores
from models.pretrained import SHELF, form
from runtime.process import log_to_stderr
from runtime.settings import Settings


def main() -> None:
    """Parse the command line and run its command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regional", description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    trial = what.add_parser("trial")
    trial.add_argument("recipe", choices=sorted(RECIPES))
    trial.add_argument("seed", nargs="?", type=int, default=0)
    what.add_parser("mean").add_argument("parts", nargs="+")
    some = what.add_parser("train")
    some.add_argument("series", choices=members.NAMES)
    some.add_argument("members", nargs="*", type=int)
    what.add_parser("score").add_argument("series", choices=score.NAMES)
    examined = what.add_parser("examine")
    examined.add_argument("name", help="a series, a shipped ensemble, or a trial as NAME-SEED")
    examined.add_argument("--every", type=int, default=1, help="basins that one stands for")
    what.add_parser("snow-stores").add_argument("trial", help="NAME-SEED")
    what.add_parser("published")
    what.add_parser("weights").add_argument("combinations", nargs="*", help=f"of {', '.join(us.COMBINATIONS)}; or all")
    what.add_parser("ship-us")
    what.add_parser("ship-errors").add_argument("ensemble")
    what.add_parser("ship-snow").add_argument("ensemble", choices=form.names(SHELF))
    what.add_parser("ship-skill").add_argument("ensemble")
    what.add_parser("ship-physics")
    what.add_parser("land")
    what.add_parser("signatures")
    what.add_parser("draw")
    arguments = parser.parse_args()
    use_cores(cores(Settings.load().cores))
    log_to_stderr("warning")
    if arguments.what == "trial":
        trials.trial(arguments.recipe, arguments.seed)
    elif arguments.what == "mean":
        trials.mean(arguments.parts)
    elif arguments.what == "train":
        members.train(arguments.series, arguments.members)
    elif arguments.what == "score":
        score.score(arguments.series)
    elif arguments.what == "examine":
        examination.examine(arguments.name, arguments.every)
    elif arguments.what == "snow-stores":
        snow_stores.judge(arguments.trial)
    elif arguments.what == "published":
        published.compare()
    elif arguments.what == "weights":
        us.choose_weights(arguments.combinations)
    elif arguments.what == "ship-us":
        us.ship()
    elif arguments.what == "ship-errors":
        ship = score.ship_errors if arguments.ensemble in score.FITTED_ON else shipped_skill.ship_errors
        ship(arguments.ensemble)
    elif arguments.what == "ship-snow":
        snow_cells.ship_snow(arguments.ensemble)
    elif arguments.what == "ship-skill":
        shipped_skill.ship_skill(arguments.ensemble)
    elif arguments.what == "ship-physics":
        shipped_physics.ship_physics()
    elif arguments.what == "land":
        land.write()
    elif arguments.what == "signatures":
        signatures.measure()
    else:
        drawn.draw()


if __name__ == "__main__":
    main()
