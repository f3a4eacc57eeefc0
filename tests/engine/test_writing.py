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

from distlint.engine.writing import HOURS_KEPT, NotWritten, put, replace, sweep

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
    with pytest.raises(NotWritten, match="modified in the meantime"):
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
    with pytest.raises(NotWritten, match="file is read-only"):
        replace(path, b"old", b"new")
    assert path.read_bytes() == b"old"


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "train.py"
    path.write_bytes(b"old")
    monkeypatch.setattr("distlint.engine.writing.tempfile.mkstemp", refuse)
    with pytest.raises(NotWritten, match=f"the directory {tmp_path} is read-only"):
        replace(path, b"old", b"new")


def killed_while_writing(folder: Path) -> str:
    """The name of the temporary file that a killed process leaves in a directory."""
    script = f"""
import os, signal
from pathlib import Path
from distlint.engine import writing
writing.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
writing.replace(Path({str(folder / "train.py")!r}), b"old", b"new")
"""
    before = {*os.listdir(folder)}
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode < 0
    (left,) = {*os.listdir(folder)} - before
    return left


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"old")
    left = killed_while_writing(tmp_path)
    others = [
        *("data.distlint", ".distlint", ".train.py.12.distlint", ".train.py.x.abcdefgh.distlint"),
        *(
            ".train.py.999999999.abcdefgh",
            ".train.py.999999999.abcdefgh.distlint.py",
            ".sNN.py.abcdefgh",
        ),
        left.replace(left.split(".")[3], str(os.getpid())),  # of a process that runs
    ]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".folder.999999999.abcdefgh.distlint").mkdir()
    (tmp_path / ".link.999999999.abcdefgh.distlint").symlink_to("train.py")
    kept = {*os.listdir(tmp_path)} - {left}
    sweep([tmp_path, tmp_path / "not there"])
    assert {*os.listdir(tmp_path)} == kept
    long_ago = time.time() - HOURS_KEPT * 3600 - 60
    os.utime(tmp_path / others[-1], (long_ago, long_ago))
    sweep([tmp_path])
    assert {*os.listdir(tmp_path)} == kept - {others[-1]}


def test_put_replaces_whole_or_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, link = tmp_path / "report.txt", tmp_path / "link.txt"
    put(path, b"first")
    link.symlink_to("report.txt")
    put(link, b"second")
    assert (link.is_symlink(), path.read_bytes()) == (True, b"second")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("distlint.engine.writing.os.fsync", full)
    for name in ("report.txt", "new.txt"):
        with pytest.raises(NotWritten, match="No space left on device"):
            put(tmp_path / name, b"third")
    assert path.read_bytes() == b"second"
    assert sorted(os.listdir(tmp_path)) == ["link.txt", "report.txt"]


def test_put_writes_to_what_is_no_file(tmp_path: Path) -> None:
    put(Path(os.devnull), b"nothing")
    reading, writing = os.pipe()
    put(Path(f"/dev/fd/{writing}"), b"through a pipe")
    assert os.read(reading, 100) == b"through a pipe"
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        put(Path(f"/dev/fd/{writing}"), b"to no reader")
    os.close(writing)
    with (tmp_path / "opened").open("wb") as opened:
        put(Path(f"/dev/fd/{opened.fileno()}"), b"first ")
        opened.seek(0, 2)
        opened.write(b"second")
    assert (tmp_path / "opened").read_bytes() == b"first second"


def test_names_of_any_length_and_kind(tmp_path: Path) -> None:
    for name in ("é" * 120, "a" * 250, ".a\nb"):
        put(tmp_path / name, b"new")
        replace(tmp_path / name, b"new", b"newer")
    assert len(os.listdir(tmp_path)) == 3
