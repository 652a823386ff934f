"""Findings about data, as reported by checks."""

from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: a stable code, its severity, a sentence for people, and details that JSON can hold."""

    code: str
    severity: Severity
    sentence: str
    detail: dict[str, Any]
