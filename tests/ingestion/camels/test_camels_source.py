"""The archive as a whole: folders and zips, copies, products, what is unsafe or unknown."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_LZMA, ZIP_STORED, ZipFile

import numpy as np
import pytest

from hydrology.base.errors import InvalidInput, NotFound
from ingestion.base import LARGEST_FILE, Source, SourceError, SourceFile
from ingestion.sources.archives import LARGEST_DIRECTORY
from ingestion.sources.camels import CamelsSource
from ingestion.sources.camels_text import TextFile, parse_forcing
from testing.files import camels as write

FILES = {
    write.FORCING_PATH: write.forcing(),
    write.FLOW_PATH: write.streamflow(),
    write.SWE_PATH: write.swe(),
    write.MODEL_PATH: write.model_output(),
    "camels_attributes_v2.0/camels_topo.txt": write.TOPO,
    "camels_attributes_v2.0/camels_name.txt": write.NAME,
    "camels_attributes_v2.0/camels_vege.txt": write.VEGE,
    "camels_attributes_v2.0/readme.txt": "about",
}


def refused(*paths: Path, product: str | None = None) -> SourceError:
    with pytest.raises(SourceError) as caught:
        CamelsSource(paths, product)
    return caught.value


def unreadable(*paths: Path, basin: str = write.BASIN) -> SourceError:
    source = CamelsSource(paths)
    with pytest.raises(SourceError) as caught:
        source.read(basin)
    return caught.value


def series_of(source: Source, basin: str = write.BASIN) -> dict[tuple[str, str], list[float]]:
    data = source.read(basin)
    return {(one.product, one.variable): one.series.values.tolist() for one in data.series}


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_LZMA])
def test_a_zip_gives_what_a_folder_gives(tmp_path: Path, compression: int) -> None:
    folder = CamelsSource([write.folder(tmp_path / "all", FILES)])
    archive = CamelsSource([write.zipped(tmp_path / "all.zip", FILES, compression)])
    assert folder.basins() == archive.basins() == [write.BASIN]
    plain, packed = folder.read(write.BASIN), archive.read(write.BASIN)
    assert {file.sha256 for file in plain.files} == {file.sha256 for file in packed.files}
    np.testing.assert_equal(series_of(folder), series_of(archive))


def test_a_basin_has_all_the_data_of_its_files(tmp_path: Path) -> None:
    data = CamelsSource([write.folder(tmp_path, FILES)]).read(write.BASIN)
    assert (data.basin, data.name) == (write.BASIN, "Narraguagus River at Cherryfield, Maine")
    assert (data.latitude, data.longitude, data.huc) == (44.60797, -67.93524, "01")
    assert data.areas == {"maurer_extended": 587675987, "area_gages2": 573.6e6}
    assert data.attributes == {"elev_mean": 92.68, "slope_mean": 17.79072, "area_gages2": 573.6, "frac_forest": 0.9232}
    assert data.texts == {"dom_land_cover": "Mixed Forests"}
    products = {(one.product, one.variable) for one in data.series}
    assert products >= {
        ("maurer_extended", "precipitation"),
        ("usgs", "discharge"),
        ("uaz", "swe"),
        ("snodas", "swe"),
        ("sacsma_daymet", "discharge_modelled"),
    }
    assert {one.file for one in data.series} <= set(data.files)
    assert len(data.files) == 7


def test_a_basin_needs_no_attributes_and_attributes_alone_are_not_a_basin(tmp_path: Path) -> None:
    flow = write.FLOW_PATH.replace(write.GAUGE, "01031500")
    source = CamelsSource(
        [
            write.folder(
                tmp_path,
                {
                    flow: write.streamflow(gauge="01031500"),
                    write.SWE_PATH: write.swe(),
                    write.MODEL_PATH: write.model_output(),
                    "camels_topo.txt": write.TOPO,
                },
            )
        ]
    )
    assert source.basins() == ["USGS-01031500"]
    data = source.read("USGS-01031500")
    assert (data.name, data.latitude, data.areas, data.attributes, data.texts) == (None, None, {}, {}, {})
    with pytest.raises(NotFound, match=write.BASIN):
        source.read(write.BASIN)


def test_a_namespaced_archive(tmp_path: Path) -> None:
    source = CamelsSource(
        [
            write.folder(
                tmp_path,
                {
                    "synthetic/01/SYNTH-01_lump_synthetic_forcing_leap.txt": write.forcing(),
                    "usgs_streamflow/01/SYNTH-01_streamflow_qc.txt": write.streamflow(gauge="SYNTH-01"),
                    "flow_timeseries/synthetic/01/SYNTH-01_01_model_output.txt": write.model_output(),
                    "swe_reference/01/SYNTH-01_swe.csv": write.swe("date,synthetic_snow_swe", ["1", "2"]),
                },
            )
        ]
    )
    assert source.basins() == ["SYNTH-01"]
    products = {(one.product, one.variable) for one in source.read("SYNTH-01").series}
    assert products >= {
        ("synthetic", "precipitation"),
        ("synthetic_snow", "swe"),
        ("synth", "discharge"),
        ("synthetic_truth", "swe"),
    }


def test_a_broken_basin_leaves_the_others_readable(tmp_path: Path) -> None:
    other = write.FLOW_PATH.replace(write.GAUGE, "01031500")
    broken = write.streamflow().replace("350.00", "3.5.0")
    source = CamelsSource(
        [write.folder(tmp_path, {write.FLOW_PATH: broken, other: write.streamflow(gauge="01031500")})]
    )
    with pytest.raises(SourceError, match=r"01022500_streamflow_qc\.txt, line 2"):
        source.read(write.BASIN)
    assert len(source.read("USGS-01031500").series) == 1


def test_a_file_of_another_basin_is_found_by_the_gauges_latitude(tmp_path: Path) -> None:
    path = write.folder(tmp_path, {**FILES, write.FORCING_PATH: write.forcing(latitude=38.99)})
    assert "another basin's" in unreadable(path).cause


def test_the_same_file_twice_counts_once(tmp_path: Path) -> None:
    folder = write.folder(tmp_path / "a", FILES)
    archive = write.zipped(tmp_path / "b.zip", FILES)
    twice = CamelsSource([folder, archive]).read(write.BASIN)
    assert twice.files == CamelsSource([folder]).read(write.BASIN).files


def test_two_files_that_differ_are_refused_and_both_named(tmp_path: Path) -> None:
    one = write.folder(tmp_path / "a", {write.FLOW_PATH: write.streamflow()})
    two = write.folder(tmp_path / "b", {write.FLOW_PATH: write.streamflow([(1, "A")])})
    message = str(unreadable(one, two))
    assert f"{one}/" in message
    assert f"{two}/" in message


def test_two_attribute_files_that_differ_are_refused(tmp_path: Path) -> None:
    one = write.folder(tmp_path / "a", {"camels_name.txt": write.NAME})
    two = write.folder(tmp_path / "b", {"camels_name.txt": write.NAME.replace("River", "Brook")})
    assert "differs from" in refused(one, two).cause


def test_one_series_from_two_files_is_refused(tmp_path: Path) -> None:
    snowy = write.forcing(rows=[(*row[:3], 12.5, *row[4:]) for row in write.WEATHER])
    files = {write.FORCING_PATH: snowy, write.SWE_PATH: write.swe("date,maurer_extended_swe", ["1", "2"])}
    assert "maurer_extended swe is also in" in unreadable(write.folder(tmp_path, files)).cause


@pytest.mark.parametrize("product", sorted(write.KINDS))
def test_the_folder_names_the_product(tmp_path: Path, product: str) -> None:
    name = f"basin_mean_forcing/{product}/01/{write.GAUGE}_lump_{write.KINDS[product]}_forcing_leap.txt"
    source = CamelsSource([write.folder(tmp_path, {name: write.forcing(product)})])
    assert set(source.read(write.BASIN).areas) == {product}


def test_a_product_given_names_what_the_folder_does_not(tmp_path: Path) -> None:
    name = f"maurer_3yr/01/{write.GAUGE}_lump_maurer_forcing_leap.txt"
    folder = write.folder(tmp_path, {name: write.forcing("maurer")})
    assert "--product maurer or maurer_extended" in refused(folder).remedy
    assert set(CamelsSource([folder], product="maurer").read(write.BASIN).areas) == {"maurer"}
    assert "of kind maurer, which is not daymet" in refused(folder, product="daymet").cause
    with pytest.raises(InvalidInput, match="era5"):
        CamelsSource([folder], product="era5")


def test_other_products_than_the_wanted_one_are_passed_by(tmp_path: Path) -> None:
    other = f"basin_mean_forcing/daymet/01/{write.GAUGE}_lump_cida_forcing_leap.txt"
    folder = write.folder(tmp_path, FILES | {other: "no forcing at all"})
    both, wanted = CamelsSource([folder]), CamelsSource([folder], product="maurer_extended")
    with pytest.raises(SourceError, match="daymet"):
        both.read(write.BASIN)
    data = wanted.read(write.BASIN)
    assert "maurer_extended" in {series.product for series in data.series}
    assert "daymet" not in {series.product for series in data.series} | set(data.areas)


def test_paths_that_hold_only_other_products_are_refused(tmp_path: Path) -> None:
    folder = write.folder(tmp_path, FILES)
    assert "of another product than maurer" in refused(folder, product="maurer").cause


def test_a_kind_that_contradicts_the_folder_is_refused(tmp_path: Path) -> None:
    name = f"daymet/01/{write.GAUGE}_lump_maurer_forcing_leap.txt"
    assert "of kind maurer" in refused(write.folder(tmp_path, {name: write.forcing("maurer")})).cause


def test_a_kind_is_reported_without_its_control_characters(tmp_path: Path) -> None:
    name = f"daymet/01/{write.GAUGE}_lump_ma\x7frer_forcing_leap.txt"
    assert "of kind ma?rer" in refused(write.folder(tmp_path, {name: write.forcing("maurer")})).cause


def test_model_output_of_an_unknown_forcing_is_refused(tmp_path: Path) -> None:
    name = write.MODEL_PATH.replace("daymet", "era5")
    assert "names a product" in refused(write.folder(tmp_path, {name: write.model_output()})).cause


def test_a_name_without_a_gauge_is_refused(tmp_path: Path) -> None:
    name = write.FLOW_PATH.replace(write.GAUGE, "1022500")
    assert "what is not a gauge" in refused(write.folder(tmp_path, {name: write.streamflow()})).cause


def test_a_path_without_a_known_file_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    folder = write.folder(tmp_path / "a", {"notes.txt": "", f"._{write.GAUGE}_streamflow_qc.txt": ""})
    for path in (folder, write.zipped(tmp_path / "b.zip", {"notes.txt": ""})):
        error = refused(path)
        assert error.file == str(path)
        assert "<ID>_streamflow_qc.txt" in error.remedy
        assert "own tables: freshet ingest tables" in error.remedy


def test_an_archive_within_what_was_given_is_named(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    inner = write.zipped(tmp_path / "sub" / "inner.zip", FILES)
    outer = tmp_path / "outer.zip"
    with ZipFile(outer, "w") as archive:
        archive.write(inner, "data/inner.zip")
    error = refused(outer)
    assert (error.file, error.cause) == (
        f"{outer}!data/inner.zip",
        "is an archive within what was given, and is not opened",
    )
    assert "unpack outer.zip once" in error.remedy
    error = refused(tmp_path / "sub")
    assert error.file == str(inner)
    assert "give it by its own path" in error.remedy
    assert "data.tar.gz" in refused(write.folder(tmp_path / "c", {"data.tar.gz": ""})).file


def test_attributes_alone_are_refused_with_what_to_add(tmp_path: Path) -> None:
    error = refused(write.folder(tmp_path, {"camels_topo.txt": write.TOPO, "camels_name.txt": write.NAME}))
    assert error.cause == "it has attributes of 1 basin, but neither weather nor discharge of any basin"
    assert "usgs_streamflow/HH/<ID>_streamflow_qc.txt" in error.remedy
    snow = refused(write.folder(tmp_path / "snow", {write.SWE_PATH: write.swe()}))
    assert snow.cause.startswith("it has reference snow or model output, but neither")


@pytest.mark.parametrize(
    "name",
    [
        f"maurer_extended/{write.GAUGE}_lump_maurer_forcing_leap.txt",
        f"maurer_extended/maine/01/{write.GAUGE}_lump_maurer_forcing_leap.txt",
        f"daymet/maurer_extended/{write.GAUGE}_lump_maurer_forcing_leap.txt",
    ],
)
def test_the_nearest_folder_that_names_a_product_decides(tmp_path: Path, name: str) -> None:
    data = CamelsSource([write.folder(tmp_path, {name: write.forcing()})]).read(write.BASIN)
    assert {one.product for one in data.series} == {"maurer_extended"}


def test_a_path_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nowhere").cause


def test_a_file_that_is_not_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.zip"
    path.write_text("<html>not found</html>")
    assert "is not a zip file" in refused(path).cause


def test_a_member_without_a_name_is_passed_by(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", FILES)
    with ZipFile(path, "a") as archive:
        archive.writestr("x", "x")
        archive.infolist()[-1].filename = ""
    assert CamelsSource([path]).basins() == CamelsSource([write.folder(tmp_path / "folder", FILES)]).basins()


def test_a_zip_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", FILES)
    path.write_bytes(path.read_bytes()[:-30])
    assert "cut short" in refused(path).cause


@pytest.mark.parametrize("member", ["../x_streamflow_qc.txt", "/etc/x", "a/../../x", "a\\..\\x"])
def test_a_zip_whose_member_leaves_it_is_refused(tmp_path: Path, member: str) -> None:
    error = refused(write.zipped(tmp_path / "a.zip", {**FILES, member: "x"}))
    assert error.file.endswith(f"!{member}")
    assert "leaves the zip" in error.cause


def flip(path: Path, changes: Mapping[int, int]) -> None:
    """Change bytes of the only entry in a zip's directory, counted from its beginning."""
    content = bytearray(path.read_bytes())
    start = content.rindex(b"PK\x01\x02")
    for offset, value in changes.items():
        content[start + offset] = value
    path.write_bytes(content)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", {write.FLOW_PATH: write.streamflow()})
    flip(path, {8: 1})
    assert "encrypted" in refused(path).cause


def test_an_unknown_packing_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", {write.FLOW_PATH: write.streamflow()})
    flip(path, {10: 97})
    assert "packed in a way that is not read here" in refused(path).cause


def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with ZipFile(path, "w", ZIP_LZMA) as archive, archive.open(write.FLOW_PATH, "w") as member:
        for _ in range(65):
            member.write(bytes(2**20))
    assert f"{65 * 2**20} bytes" in refused(path).cause


def test_a_member_that_unpacks_to_more_than_declared_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", {write.FLOW_PATH: write.streamflow() * 1000})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = content.rindex(signature) + offset
        content[start : start + 4] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    assert "damaged" in unreadable(path).cause


def test_a_zip_that_declares_too_long_a_list_of_members_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", {write.FLOW_PATH: write.streamflow()})
    content = path.read_bytes()
    start = content.rindex(b"PK\x01\x02")
    listed = LARGEST_DIRECTORY + 1
    with path.open("wb") as file:
        file.write(content[:start])
        file.seek(start + listed - (len(content) - start - 22))
        file.write(content[start:-10] + listed.to_bytes(4, "little") + content[-6:])
    error = refused(path)
    assert "is not a zip file, or is cut short or damaged" in error.cause
    assert "list of members" in str(error.__cause__)


def test_a_plain_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    folder = write.folder(tmp_path, {write.FLOW_PATH: ""})
    with (folder / write.FLOW_PATH).open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    assert f"{LARGEST_FILE + 1} bytes" in unreadable(folder).cause


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = write.zipped(tmp_path / "a.zip", {write.FLOW_PATH: write.streamflow()}, ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"350.00", b"351.00"))
    error = unreadable(path)
    assert error.file == f"{path}!{write.FLOW_PATH}"
    assert "damaged" in error.cause


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert "empty" in unreadable(write.folder(tmp_path, {write.FLOW_PATH: ""})).cause


def test_the_real_archive(camels: Path) -> None:
    names = ("maurer_extended.zip", "basin_timeseries_v1p2_metForcing_obsFlow.zip", "swe_reference.zip")
    folders = ("camels_attributes_v2.0", "basin_dataset_public_v1p2", "model_output")
    source = CamelsSource([camels / name for name in (*names, *folders)])
    gauges = (camels / "basin_lists/447_basin_file.txt").read_text().split()
    assert source.basins() == sorted(f"USGS-{gauge}" for gauge in gauges)
    # One in a zip and as plain text with model output, the one of farthest latitude, and one of 0.25 times the area.
    for gauge in ("06409000", "01606500", "06470800"):
        data = source.read(f"USGS-{gauge}")
        lengths = {(one.product, one.variable): len(one.series) for one in data.series}
        assert lengths["maurer_extended", "tmin"] == 10593
        assert lengths["uaz", "swe"] == 12145
        assert ("usgs", "discharge") in lengths
        assert (("sacsma_daymet", "swe") in lengths) == (gauge == "06409000")
    assert data.areas["maurer_extended"] / data.areas["area_gages2"] == pytest.approx(0.25, abs=0.005)


def test_the_real_discharge_in_depth_is_the_archives_own(camels: Path) -> None:
    source = CamelsSource([camels / "basin_dataset_public_v1p2", camels / "model_output"])
    data = source.read("USGS-01031500")
    discharge = next(one.series for one in data.series if one.variable == "discharge")
    path = camels / "model_output/flow_timeseries/daymet/01/01031500_05_model_output.txt"
    observed = np.loadtxt(path, skiprows=1, usecols=11)
    depth = discharge.over(next(one.series for one in data.series if one.product == "sacsma_daymet").period).values
    depth = depth * 0.028316846592 * 86400 * 1000 / data.areas["maurer_extended"]
    known = ~np.isnan(depth)
    np.testing.assert_allclose(depth[known], observed[known], rtol=0.01, atol=1e-4)


def test_no_real_basin_is_taken_for_another(camels: Path) -> None:
    """Every header of the extended set passes the check of latitude; here by its header and one row."""
    topo = (camels / "camels_attributes_v2.0/camels_topo.txt").read_text().splitlines()[1:]
    latitude = {line.split(";")[0]: float(line.split(";")[1]) for line in topo}
    with ZipFile(camels / "maurer_extended.zip") as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                head = b"".join(member.readline() for _ in range(5))
            text = TextFile.decode(SourceFile(name, "", 0), head)
            assert parse_forcing(text, latitude[name.rpartition("/")[2][:8]])[0] > 0


def test_flow_by_another_name_is_refused_for_its_basin(tmp_path: Path) -> None:
    others = {write.FORCING_PATH.replace(write.GAUGE, "01013500"): write.forcing()}
    for name in ("_streamflow.txt", "_streamflow.csv", "_Streamflow_raw.txt", "_streamflow_qc.csv"):
        flow = write.FLOW_PATH.replace("_streamflow_qc.txt", name)
        files = {path: text for path, text in FILES.items() if path != write.FLOW_PATH} | others
        source = CamelsSource([write.folder(tmp_path / name, files | {flow: write.streamflow()})])
        with pytest.raises(SourceError) as caught:
            source.read(write.BASIN)
        assert caught.value.file.endswith(name)
        assert "which is not that of CAMELS" in caught.value.cause
        assert source.read("USGS-01013500").series
    both = FILES | {write.FLOW_PATH.replace("_qc.txt", ".txt"): "a copy"}
    assert ("usgs", "discharge") in series_of(CamelsSource([write.folder(tmp_path / "both", both)]))
    alone = CamelsSource([write.folder(tmp_path / "alone", {f"{write.GAUGE}_streamflow.txt": "a table"})])
    assert alone.basins() == [write.BASIN]
    cut = {write.FLOW_PATH: f"{write.GAUGE} 2000 01 01 12.5"}
    assert "5 columns instead of 6" in unreadable(write.folder(tmp_path / "cut", cut)).cause
