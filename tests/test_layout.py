"""The package hangs together as intended: who imports whom, what an import costs, which version."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import skift_env

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "skift_env"

# A part is a file or a folder of the package. It may import the parts on the lines above it, and
# on its own line those to its left.
LAYERS = (
    ("_jit", "types", "files"),
    ("rng", "rules", "playouts"),
    ("actions", "observation", "symmetry", "hashing", "augmentation", "notation"),
    ("position",),
    ("agents", "openings"),
    ("shapes", "view", "trace", "drawing", "overlays", "svg", "render", "manual"),
    ("episodes", "pettingzoo_env", "skift_v0", "game_batch", "vector_env", "gymnasium_env", "sb3"),
    ("ratings", "records"),
    ("__init__",),
    ("schedule", "arena", "standings", "manifest", "results", "verification"),
    ("match", "reports", "replay", "web"),
    ("demo", "cli", "__main__"),
)
RANK = {part: rank for rank, part in enumerate(part for layer in LAYERS for part in layer)}

# Imports against that order, made inside a function when it is called.
LAZY_IMPORTS = {
    ("position", "svg"): "a notebook asks a Position for its picture",
    ("records", "replay"): "a notebook asks a Game for its replay",
}

OPTIONAL = (
    "torch",
    "pygame",
    "matplotlib",
    "rich",
    "typer",
    "stable_baselines3",
    "PIL",
    "imageio_ffmpeg",
    "starlette",
    "uvicorn",
)


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))
PARTS = {part_of(file) for file in FILES}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(node: ast.AST, lazy: bool = False) -> Iterator[tuple[str, bool, int]]:
    """What is imported at run time as (dotted name, whether in a function, line)."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, lazy, node.lineno) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: a relative import"
        yield from ((f"{node.module}.{alias.name}", lazy, node.lineno) for alias in node.names)
    lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    skipped = node.body if is_type_checking(node) else ()
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from imports(child, lazy)


def imported_part(name: str) -> str | None:
    """The part of this package that a dotted name stands for; None outside the package."""
    package, _, rest = name.partition(".")
    if package != PACKAGE.name:
        return None
    part = rest.partition(".")[0]
    return part if part in PARTS else "__init__"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(file: Path) -> None:
    part = part_of(file)
    assert part in RANK, f"say in LAYERS where skift_env/{part} belongs"
    for name, lazy, line in imports(ast.parse(file.read_text("utf-8"))):
        other = imported_part(name)
        if other in (None, part) or (lazy and (part, other) in LAZY_IMPORTS):
            continue
        assert other in RANK, f"say in LAYERS where skift_env/{other} belongs"
        assert RANK[other] < RANK[part], f"{file.name}:{line}: {part} must not import {other}"


def test_every_form_of_import_is_seen() -> None:
    source = """
import numpy as np
if TYPE_CHECKING:
    import skift_env.cli
else:
    from skift_env import rules, Position
try:
    import skift_env.rng
except ImportError:
    pass
class Position:
    def _repr_svg_(self):
        from skift_env.svg import render
"""
    found = [(imported_part(name), lazy) for name, lazy, _ in imports(ast.parse(source))]
    in_package = [("rules", False), ("__init__", False), ("rng", False), ("svg", True)]
    assert found == [(None, False), *in_package]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_no_kernel_calls_itself(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and "kernel" in map(ast.unparse, node.decorator_list):
            names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            assert node.name not in names, f"a cached kernel must not recurse: {node.name}"


def test_import_needs_no_extra() -> None:
    code = f"import sys, skift_env; print(*[m for m in {OPTIONAL!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_examples_in_the_readme() -> None:
    text = re.sub("^```.*$", "", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=report.append)
    assert not report, "".join(report)


def test_version_is_the_same_everywhere() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.findall(r'^version = "(.+)"$', project, re.MULTILINE) == [skift_env.__version__]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## [{skift_env.__version__}]" in changelog
