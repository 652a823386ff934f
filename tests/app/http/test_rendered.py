"""What is kept of the answers is bounded, and what was asked for last stays."""

from app.http.response_cache import Rendered


def test_the_oldest_answers_make_room() -> None:
    rendered = Rendered(most_bytes=10)
    rendered.keep("a", b"12345")
    rendered.keep("b", b"12345")
    assert rendered.get("a") == b"12345"
    rendered.keep("c", b"12345")
    assert rendered.get("b") is None
    assert rendered.get("a") == b"12345"
    assert rendered.get("c") == b"12345"


def test_an_answer_larger_than_all_is_not_kept() -> None:
    rendered = Rendered(most_bytes=3)
    rendered.keep("a", b"12345")
    assert rendered.get("a") is None
    rendered.keep("b", b"123")
    assert rendered.get("b") == b"123"
