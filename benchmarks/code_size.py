"""How many lines of the product compute something, and how many declare, describe or import: by part of the tree.

A line counts once, as the first of these that it belongs to: blank, comment, docstring, import, signature (a function's
or class's head with its decorators), field (an annotated or constant assignment of a class or module), logic.
"""

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUTSIDE = {"tests", "testing", "benchmarks", "deployment"}
GENERATED = {"client/freshet_client/models.py", "client/freshet_client/operations.py"}
EXTENSIONS = "extensions"
SHORT_LINES = 60
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def measure() -> dict[str, Any]:
    """Return lines, the share of logic and files of the core, of each extension, and of their packages."""
    counts: dict[str, Counter[str]] = {}
    for name in _tracked():
        path = Path(name)
        if OUTSIDE & {*path.parts} or name in GENERATED or len(path.parts) == 1:
            continue
        package = "/".join(path.parts[:2]) if path.parts[0] == EXTENSIONS else path.parts[0]
        of_file = line_kinds((ROOT / name).read_text("utf-8"))
        of_file["files"] = 1
        of_file["short files"] = path.name != "__init__.py" and of_file.total() - 1 <= SHORT_LINES
        counts.setdefault(package, Counter()).update(of_file)
    core = Counter[str]()
    for package, of_package in counts.items():
        if not package.startswith(EXTENSIONS):
            core.update(of_package)
    return {"core": _shown(core), "packages": {package: _shown(one) for package, one in sorted(counts.items())}}


def line_kinds(source: str) -> Counter[str]:
    """Return the number of lines of each kind."""
    kinds = ["logic"] * len(source.splitlines())
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for kind, first, last in _spans(node):
            for line in range(first - 1, last):
                if kinds[line] == "logic":
                    kinds[line] = kind
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            kinds[token.start[0] - 1] = "comment"
    for number, text in enumerate(source.splitlines()):
        if not text.strip() and kinds[number] != "docstring":
            kinds[number] = "blank"
    return Counter(kinds)


def _spans(node: ast.AST) -> list[tuple[str, int, int]]:
    """Return the kinds of lines that a node declares, with their first and last line."""
    spans = []
    if isinstance(node, (ast.Module, ast.ClassDef)):
        fields = [child for child in node.body if isinstance(child, (ast.Assign, ast.AnnAssign))]
        spans += [("field", child.lineno, child.end_lineno or child.lineno) for child in fields]
    if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
        strings = [child for child in node.body if _is_text(child)]
        spans += [("docstring", child.lineno, child.end_lineno or child.lineno) for child in strings]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        spans.append(("import", node.lineno, node.end_lineno or node.lineno))
    if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        spans.append(("signature", first, max(node.lineno, node.body[0].lineno - 1)))
    return spans


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split()


def _shown(counts: Counter[str]) -> dict[str, Any]:
    files, short = counts["files"], counts["short files"]
    lines = counts.total() - files - short
    kinds = {kind: count for kind, count in counts.most_common() if kind not in ("files", "short files")}
    share = round(kinds.get("logic", 0) / lines, 3) if lines else 0.0
    return {"lines": lines, "share_of_logic": share, "files": files, f"files_to_{SHORT_LINES}_lines": short, **kinds}
