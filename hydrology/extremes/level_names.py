"""Names of levels and their chances for a reader."""

import re

from hydrology.extremes.thresholds import OF_MODEL

_LEVELS = (
    (re.compile(r"gev-(\d+)"), "{}-year flood"),
    (re.compile(r"lp3-(\d+)"), "{}-year flood, log-Pearson"),
    (re.compile(r"7q(\d+)"), "{}-year low flow"),
    (re.compile(r"exceeded-(\d+)"), "flow exceeded on {} % of days"),
    (re.compile(r"(action)"), "{} stage"),
    (re.compile(r"(minor|moderate|major)"), "{} flood"),
)


def level_title(name: str) -> str:
    """Return a level's name for a reader: `gev-5` is the 5-year flood, `minor` the minor flood."""
    plain = name.removeprefix(OF_MODEL)
    for pattern, title in _LEVELS:
        if found := pattern.fullmatch(plain):
            plain = title.format(found[1])
            break
    return plain if name == plain or not name.startswith(OF_MODEL) else f"{plain}, of the model"


def is_second_estimate(name: str) -> bool:
    """Return whether a level is a flood that another method or record has estimated, too: readers need one."""
    return name.startswith(("lp3-", OF_MODEL))


def percent(share: float) -> str:
    """Return a chance in percent; one beyond the outermost quantiles as a bound."""
    if share <= 0.01:
        return "1 % or less"
    return "99 % or more" if share >= 0.99 else f"{100 * share:.0f} %"
