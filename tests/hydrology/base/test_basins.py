import pytest

from hydrology.base.basins import basin_id, gauge_product, source_code
from hydrology.base.errors import InvalidInput


@pytest.mark.parametrize("text", ["01013500", "USGS-01013500", " 01013500\n"])
def test_a_usgs_number_is_one_basin_however_it_is_written(text: str) -> None:
    assert basin_id(text) == "USGS-01013500"


@pytest.mark.parametrize("text", ["SYNTH-01", "CAMELSGB-1001", "OWN-mill_creek.2"])
def test_a_namespaced_identifier_is_stored(text: str) -> None:
    assert basin_id(text) == text


@pytest.mark.parametrize(
    "text", ["", "1013500", "USGS-101", "USGS-mill", "synth-01", "SYNTH-", "SYNTH-0/1", "-01", "０１０１３５００"]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="01013500"):
        basin_id(text)


@pytest.mark.parametrize("text", ["1013500", "USGS-1013500"])
def test_a_lost_leading_zero_is_supplied_in_the_error(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{text}' .* leading zero was likely lost .* Write 01013500"):
        basin_id(text)


def test_files_name_a_usgs_site_by_its_bare_number() -> None:
    assert source_code("USGS-01013500") == "01013500"
    assert source_code("SYNTH-01") == "SYNTH-01"


def test_discharge_is_stored_under_the_gauges_namespace() -> None:
    assert [gauge_product(basin) for basin in ("USGS-01013500", "SYNTH-01", "OWN-mill")] == ["usgs", "synth", "own"]
