"""The cache of answers is bounded, and the last ones used stay."""

from app.http.conditional import ResponseCache


def test_the_oldest_answers_make_room() -> None:
    rendered = ResponseCache(max_bytes=10)
    rendered.put("a", b"12345")
    rendered.put("b", b"12345")
    assert rendered.get("a") == b"12345"
    rendered.put("c", b"12345")
    assert rendered.get("b") is None
    assert rendered.get("a") == b"12345"
    assert rendered.get("c") == b"12345"


def test_an_answer_larger_than_all_is_not_stored() -> None:
    rendered = ResponseCache(max_bytes=3)
    rendered.put("a", b"12345")
    assert rendered.get("a") is None
    rendered.put("b", b"123")
    assert rendered.get("b") == b"123"
