"""Pagination of an OGC API's features."""

from collections.abc import Iterator
from typing import Any

from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import Broken, Params, Service, parsed

MAX_PAGES = 200
PAGE_SIZE = 10_000  # features; the service allows up to 50 000, and gives no total
QUERY_MEDIA = "application/query-cql-json"

Properties = dict[str, Any]


def features(
    service: Service, collection: str, params: Params, body: object = None, path: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield every feature of a query, in any order; `path` is that of the collection's items, where it is another.

    FeedProblem: a page fails, repeats or leads to another host, or there are too many.
    """
    asked, seen = dict(params) | {"limit": str(PAGE_SIZE)}, set[str]()
    answer = service.read(_page, path or f"/collections/{collection}/items", asked, body, QUERY_MEDIA)
    for _ in range(MAX_PAGES):
        yield from answer["features"]
        following = _next(answer)
        if following is None:
            return
        if following in seen:
            raise FeedProblem(
                f"{service.base}: a page of {collection} leads back to one before. Nothing was taken: "
                "fetch again later, or report it to the service."
            )
        if not service.is_own(following):
            raise FeedProblem(f"{service.base}: a page of {collection} leads to another host, which is not followed.")
        seen.add(following)
        answer = service.read(_page, following)
    raise FeedProblem(f"{service.base}: there are more than {MAX_PAGES} pages of {collection}: ask for fewer days.")


def _page(body: bytes) -> dict[str, Any]:
    answer = parsed(body)
    whole = isinstance(answer, dict) and isinstance(answer.get("features"), list)
    if not whole or not all(isinstance(feature, dict) for feature in answer["features"]):
        raise Broken("the answer is not a list of features")
    features: dict[str, Any] = answer
    return features


def properties(feature: dict[str, Any]) -> Properties:
    """Return a feature's properties by name; empty where it has none."""
    inner = feature.get("properties")
    return inner if isinstance(inner, dict) else {}


def _next(answer: dict[str, Any]) -> str | None:
    links = answer.get("links")
    for link in links if isinstance(links, list) else []:
        if isinstance(link, dict) and link.get("rel") == "next" and isinstance(link.get("href"), str):
            return str(link["href"])
    return None
