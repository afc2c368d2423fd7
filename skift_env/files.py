"""Files that survive a crash and are written by one process at a time."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class FileLockedError(OSError):
    """Another process is writing the file."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content, text as UTF-8: who reads it sees the old or the new, never a part.

    Raises:
        OSError: if it cannot be written; the old content is then still there.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(file.fileno())
        part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be the only process that writes a file, by a lock on `<name>.lock` beside it.

    The operating system frees the lock when the process ends, however it ends.

    Raises:
        FileLockedError: an OSError, if another process is at it.
        OSError: if the folder cannot be written.
    """
    lock = path.with_name(path.name + ".lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            raise FileLockedError(f"another process is writing {path}") from None
        # Whoever held it may have deleted the file since we opened it.
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), lock.stat()):
                break
        os.close(handle)
    try:
        yield
    finally:
        if sys.platform != "win32":  # there a file cannot be deleted while it is open
            lock.unlink(missing_ok=True)
        os.close(handle)
        with suppress(OSError):
            lock.unlink(missing_ok=True)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
