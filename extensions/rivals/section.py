"""The part of a version's page that shows rivals beside it."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from sqlalchemy.orm import Session

from extensions.rivals.endpoints import comparison_of
from records.verification import rivals

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def section(session: Session, version: str, base: str) -> Markup:
    """Return rivals' scores beside a version's, nothing where no rival is stored."""
    known = rivals.list_rivals(session)
    if not known:
        return Markup("")
    found = comparison_of(session, version)
    return Markup(_TEMPLATES.get_template("section.html").render(base=base, rivals=known, found=found))
