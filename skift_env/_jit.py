"""The one way in which this package compiles: `@kernel`.

Numba's on-disk cache looks only at the file of the cached function, so an edit to a callee or to a
table in another file would leave a stale binary behind (numba issue #1833). Here the cache folder
is named by a hash of every kernel file of the package: any edit to any of them starts a new folder.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import config as numba_config

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = Path(__file__).resolve().parent


def kernel_digest() -> str:
    """Hash of all files of the package that hold kernels: 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


def _cache_folder() -> Path | None:
    """A writable folder for this version of the kernels, or None: then nothing is cached."""
    user = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "skift_env"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for base in (Path(chosen) if chosen else PACKAGE / "__pycache__", user):
        folder = base / f"skift-kernels-{kernel_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


JIT_ENABLED = not numba_config.DISABLE_JIT
_CACHE_FOLDER = _cache_folder() if JIT_ENABLED else None


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on its first call, without the GIL, and keep the binary on disk.

    A kernel must not call itself: loaded from the cache, such a binary crashes (Numba 0.68).

    With `NUMBA_DISABLE_JIT=1` the function stays plain Python; kernels use signed 64-bit integers
    only, so that both ways give the same values.
    """
    compiled: Any = numba.njit(nogil=True)(function)
    if JIT_ENABLED and _CACHE_FOLDER is not None:
        theirs = numba_config.CACHE_DIR
        numba_config.CACHE_DIR = str(_CACHE_FOLDER)
        try:
            compiled.enable_caching()
        finally:
            numba_config.CACHE_DIR = theirs
    result: Callable[P, R] = compiled
    return result
