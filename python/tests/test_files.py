from __future__ import annotations

from pathlib import Path

import pytest

from nic2core.files import write_whole


def test_a_file_and_its_folders_are_written(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    write_whole(file, "µ")
    write_whole(file, b"bytes")
    assert file.read_bytes() == b"bytes"
    assert list(file.parent.iterdir()) == [file]


def test_what_was_there_stays_if_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    write_whole(file, "old")

    def full(partial: Path, _: bytes) -> None:
        partial.touch()
        raise OSError(28, "No space left on device", None)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_whole(file, "new")
    assert str(error.value) == f"[Errno 28] No space left on device: '{file}'"
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_device_stays_one() -> None:
    write_whole(Path("/dev/null"), "text")
    assert not Path("/dev/null").is_file()
    with pytest.raises(OSError, match="No space left") as error:
        write_whole(Path("/dev/full"), "text")
    assert error.value.filename == "/dev/full"


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
