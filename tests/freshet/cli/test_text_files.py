"""Lists of basins and other text files are read as editors and spreadsheets write them."""

import codecs
from pathlib import Path

import pytest

from freshet.cli.text_files import listed, of_file, read_text
from hydrology.base.errors import InvalidInput

BASINS = ["USGS-01031500", "USGS-13235000", "OWN-mill"]
LINES = ["# of the north", "01031500", "", "  13235000  # the Payette", "OWN-mill"]


def test_a_list_of_basins_is_read_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "basins.txt"
    for end in ("\n", "\r\n", "\r"):
        text = end.join(LINES)
        for content in (
            text.encode(),
            codecs.BOM_UTF8 + text.encode(),
            codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
            codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
            text.encode() + 3 * end.encode(),
        ):
            file.write_bytes(content)
            assert listed(file) == BASINS
    file.write_bytes(b"\xef\xbb\xbf01031500\r\n\r\n13235000 \r\n")  # of Notepad
    assert listed(file) == BASINS[:2]
    assert listed(None) == []


def test_a_line_that_names_no_basin_is_reported_with_its_file_and_number(tmp_path: Path) -> None:
    file = tmp_path / "basins.txt"
    for text, sentence in (
        ("01031500\n1013500\n", "line 2: '1013500' is not a basin identifier: its leading zero .* Write 01013500"),
        ("# a list\n\n1.01E+06\n", r"line 3: '1.01E\+06' is not a basin identifier"),
        ("01031500,13235000\n", "line 1: '01031500,13235000' is not"),
        ("# nothing\n \n", "names none"),
        ("", "names none"),
    ):
        file.write_text(text)
        with pytest.raises(InvalidInput, match=f"{file}.*{sentence}"):
            listed(file)


def test_other_bytes_and_long_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "basins.txt"
    for content, sentence in (
        (b"\xff\xfe0", "it is not UTF-8 text"),
        (b"caf\xe9", "it is not UTF-8 text"),
        (b"0" * (2**20 + 1), "more than 1048576 characters"),
        (b"0" * (2**22 + 1), "more than 1048576 characters"),
    ):
        file.write_bytes(content)
        with pytest.raises(InvalidInput, match=sentence):
            read_text(file)


def test_a_configuration_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    for name, text in (("a.json", '{"members": 2}'), ("a.toml", "members = 2\n")):
        (tmp_path / name).write_bytes(codecs.BOM_UTF8 + text.encode())
        assert of_file(tmp_path / name) == {"members": 2}
