"""Texts and tables: what is wrong is named by file and line."""

import pytest

from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels_text import Table, TextFile

FILE = SourceFile("a/b.txt", "0" * 64, 1)
COLUMNS = ("year", "flow", "flag")
TEXTS = {"flag": 4}


def text(content: str) -> TextFile:
    return TextFile.decode(FILE, content.encode())


def test_an_error_is_one_sentence_with_file_line_cause_and_remedy() -> None:
    error = SourceError("a/b.txt", "the row is cut", "fetch it again", 7)
    assert str(error) == "a/b.txt, line 7: the row is cut; fetch it again."
    assert (error.kind, error.exit_code) == ("bad-source", 4)


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    content = "\ufeff1980 1.5 A\r\n\r\n1981 2.5 M\r\n"
    table = Table.parse(text(content), 0, COLUMNS, TEXTS)
    assert table["flow"].tolist() == [1.5, 2.5]
    assert table["flag"].tolist() == ["A", "M"]


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_an_empty_file_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError, match="empty"):
        TextFile.decode(FILE, content)


def test_a_file_with_a_header_alone_is_refused() -> None:
    with pytest.raises(SourceError, match="no row after the header"):
        Table.parse(text("year flow flag\n"), 1, COLUMNS, TEXTS)


def test_bytes_that_are_not_text_are_refused_by_line() -> None:
    with pytest.raises(SourceError, match="line 2: the line is not UTF-8"):
        TextFile.decode(FILE, b"1980 1 A\n1981 \xff A\n")


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ("1981 2.5", "the row is cut: it has 2 columns instead of 3"),
        ("1981 2.5 A A", "the row has 4 columns instead of 3"),
        ("1981 two A", "column 2 cannot be read as flow"),
        ("198O 2.5 A", "column 1 cannot be read as year"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_by_line(row: str, cause: str) -> None:
    with pytest.raises(SourceError) as caught:
        Table.parse(text(f"header\n1980 1.5 A\n\n{row}\n1982 1.5 A\n"), 1, COLUMNS, TEXTS)
    assert (caught.value.file, caught.value.line, caught.value.cause) == ("a/b.txt", 4, cause)


def test_a_refused_row_is_counted_past_header_and_blank_lines() -> None:
    table = Table.parse(text("header\n1980 1 A\n\n1981 -1 A\n"), 1, COLUMNS, TEXTS)
    with pytest.raises(SourceError, match="line 4: -1 is too low"):
        table.refuse(table["flow"] < 0, lambda row: f"{table['flow'][row]:g} is too low")
