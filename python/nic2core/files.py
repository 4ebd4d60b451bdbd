"""Writing files so that a full disk destroys no earlier version of a file."""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file and create its folders. It appears whole or not at all; errors name its path."""
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
        # A full disk's error has no path, and the user does not know the partial file.
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_parquet(path: Path, table: pl.DataFrame) -> None:
    """Write a table as `write_whole` writes a file."""
    parquet = BytesIO()
    table.write_parquet(parquet)
    write_whole(path, parquet.getvalue())


def _replaceable(path: Path) -> bool:
    """Whether another file may replace it: not if it is a pipe or its folder is not writable."""
    if path.exists() and not path.is_file():
        return False
    return os.access(path.resolve().parent, os.W_OK)
