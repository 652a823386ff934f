"""A bridge to store, and its parts."""

from hydrology.base.calendar import day
from hydrology.weather.bridge import BRIDGED, MOVED, SCALED, Corrections, Likeness, Skill, VariableSkill
from records.weather.bridges import NewBridge, NewPart
from testing.records import BASIN

OTHER = "USGS-13235000"
LIVE = NewBridge(
    name="live_as_maurer",
    from_product="live",
    to_product="maurer_extended",
    model=None,
    first=day("1999-10-01"),
    last=day("2008-09-30"),
    refused={"USGS-06409000": "no day in common"},
    code_version="0.1.0",
)


def corrections(offset: float = 0.8) -> Corrections:
    return Corrections(offset, dict.fromkeys(SCALED, (1.1,) * 12), dict.fromkeys(MOVED, (-0.5,) * 12))


def a_part(basin: str = BASIN, offset: float = 0.8) -> NewPart:
    near = VariableSkill(Likeness(0.08, 0.45), Likeness(-0.01, None))
    return NewPart(basin_id=basin, corrections=corrections(offset), skill=Skill(3288, dict.fromkeys(BRIDGED, near)))


def a_pooled_part(basin: str = OTHER) -> NewPart:
    return NewPart(basin_id=basin, corrections=corrections(), pooled_from=(BASIN,), pooled_reason="no years of it")
