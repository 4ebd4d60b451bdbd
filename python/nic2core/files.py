"""Writing files so that a full disk costs nothing that was there before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file and the folders it lies in. It appears whole or not at all; errors name it."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _replaceable(path):
            path.write_bytes(data)
            return
        target = path.resolve()
        partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(data)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        # That of a full disk has no name, and nobody knows the partial file.
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replaceable(path: Path) -> bool:
    """Whether another file may take its place: not that of a pipe, or where none can be made."""
    if path.exists() and not path.is_file():
        return False
    return os.access(path.resolve().parent, os.W_OK)
