"""A compiled kernel on disk is used again, and never after an edit to any kernel file."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skift_env import _jit

PACKAGE = Path(__file__).resolve().parents[1] / "skift_env"
KERNEL_FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if b"@kernel" in path.read_bytes()]

# A kernel of symmetry.py, which calls one of rules.py, which reads a table there.
PROGRAM = """
import numpy as np
from skift_env.symmetry import square_images
value = square_images(1, 0, np.arange(9))
stats = square_images.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The root of a copy of the package; it imports no environments, which would only take time."""
    shutil.copytree(PACKAGE, tmp_path / "skift_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skift_env" / "__init__.py").write_text("")
    return tmp_path


def run(root: Path, **environment: str) -> list[int]:
    """The kernel's value, and how often it came from the cache and not."""
    inherited = {name: value for name, value in os.environ.items() if "NUMBA" not in name}
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM],
        cwd=root,
        env={**inherited, "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def edit(file: Path, old: str, new: str) -> None:
    source = file.read_text("utf-8")
    assert source.count(old) == 1, f"the line to edit is no longer in {file.name}: {old}"
    file.write_text(source.replace(old, new), "utf-8")


def binaries(root: Path) -> set[Path]:
    return set(root.rglob("*.nbc"))


@pytest.mark.compiled_only
def test_an_edit_to_a_callee_is_seen(copied: Path) -> None:
    cache = copied / "cache"

    def cached_run() -> list[int]:
        return run(copied, NUMBA_CACHE_DIR=str(cache))

    assert cached_run() == [1, 0, 1]
    first = binaries(cache)
    assert first
    assert cached_run() == [1, 1, 0]
    assert binaries(cache) == first

    rules = copied / "skift_env" / "rules.py"
    edit(
        rules, "return BIT_INDEX[(bits & -bits) % 37]", "return BIT_INDEX[(bits & -bits) % 37] + 1"
    )
    assert cached_run() == [2, 0, 1]
    edit(rules, "{pow(2, i, 37): i for", "{pow(2, i, 37): i + 1 for")
    assert cached_run() == [4, 0, 1]
    assert cached_run() == [4, 1, 0]
    # Back to the first source: its binaries are there.
    shutil.copy(PACKAGE / "rules.py", rules)
    assert cached_run() == [1, 1, 0]


@pytest.mark.compiled_only
def test_the_cache_lies_in_the_package_by_default(copied: Path) -> None:
    assert run(copied) == [1, 0, 1]
    assert binaries(copied / "skift_env" / "__pycache__") == binaries(copied)
    assert run(copied) == [1, 1, 0]


def test_every_kernel_file_counts(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit, "PACKAGE", copied / "skift_env")
    seen = {_jit.kernel_digest()}
    for count, file in enumerate(KERNEL_FILES, start=2):
        path = copied / "skift_env" / file.relative_to(PACKAGE)
        path.write_bytes(path.read_bytes() + b"\n# edited\n")
        seen.add(_jit.kernel_digest())
        assert len(seen) == count, path
    path.rename(path.with_name("renamed.py"))
    seen.add(_jit.kernel_digest())
    assert len(seen) == len(KERNEL_FILES) + 2


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The module of this package that each imported name comes from, or is."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        if node.module == "skift_env"
        else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("skift_env")
        for alias in node.names
    }


def has_kernels(module: str) -> bool:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path.with_suffix(".py") in KERNEL_FILES or path / "__init__.py" in KERNEL_FILES


@pytest.mark.parametrize("file", KERNEL_FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_kernels_read_nothing_outside_the_kernel_files(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    modules = imported_names(tree)
    for kernel in ast.walk(tree):
        if isinstance(kernel, ast.FunctionDef) and "kernel" in map(
            ast.unparse, kernel.decorator_list
        ):
            for node in (node for line in kernel.body for node in ast.walk(line)):
                module = modules.get(node.id) if isinstance(node, ast.Name) else None
                assert module is None or has_kernels(module), f"{kernel.name} reads {module}"
