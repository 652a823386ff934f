"""Reads the text of a page's parts."""

import re
from html import unescape

FACT = re.compile(r"<dt><a[^>]*>(.*?)</a></dt><dd>(.*?)</dd>", re.DOTALL)


def facts_of(page: str) -> dict[str, str]:
    """Return the five facts of a basin's page: the text of each by its title."""
    (glance,) = re.findall(r'<dl class="glance".*?</dl>', page, re.DOTALL)
    return {unescape(title): text_of(content) for title, content in FACT.findall(glance)}


def text_of(content: str) -> str:
    """Return the text of a part, its blanks as one."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", content)).split())
