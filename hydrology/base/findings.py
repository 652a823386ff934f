"""Findings about data: what a check reports, from the quality report to a refusal."""

from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: a stable code, its severity, a sentence for people, and details fit for JSON."""

    code: str
    severity: Severity
    sentence: str
    detail: dict[str, Any]
