"""A file is replaced whole or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distlint.engine.writing import NotWritten, replace

WRITER = """
import sys
from pathlib import Path
from distlint.engine.writing import replace

path, old, new = Path(sys.argv[1]), b"a" * 3_000_000, b"b" * 5_000_000
print("ready", flush=True)
while True:
    replace(path, old, new)
    replace(path, new, old)
"""


def test_a_kill_at_any_moment_leaves_one_or_the_other(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    chance = random.Random(7)
    for _ in range(12):
        path.write_bytes(b"a" * 3_000_000)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.1)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert path.read_bytes() in (b"a" * 3_000_000, b"b" * 5_000_000)


def test_mode_and_link_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"old")
    real.chmod(0o754)
    link.symlink_to("real.py")
    replace(link, b"old", b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o754
    assert sorted(os.listdir(tmp_path)) == ["link.py", "real.py"]


def test_a_changed_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"edited meanwhile")
    with pytest.raises(NotWritten, match="changed since it was read"):
        replace(path, b"old", b"new")
    assert path.read_bytes() == b"edited meanwhile"
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    path = tmp_path / "train.py"
    path.write_bytes(b"old")
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(f"distlint.engine.writing.os.{name}", fail)
            with pytest.raises((NotWritten, KeyboardInterrupt)):
                replace(path, b"old", b"new")
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["train.py"]


def test_a_read_only_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(
        "distlint.engine.writing.os.access", lambda *_: False
    )  # root may write anything
    with pytest.raises(NotWritten, match="it is read-only"):
        replace(path, b"old", b"new")
    assert path.read_bytes() == b"old"


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "train.py"
    path.write_bytes(b"old")
    monkeypatch.setattr("distlint.engine.writing.tempfile.mkstemp", refuse)
    with pytest.raises(NotWritten, match=f"its folder {tmp_path} is read-only"):
        replace(path, b"old", b"new")
