"""``distlint diagnose``: its options, output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, Run

LOG = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/train.py", line 7, in <module>
[rank0]:     dist.all_reduce(x)
[rank0]: RuntimeError: [x.cc:78] Timed out waiting 3000ms for recv operation to complete
[rank1]: done
"""


def test_the_report(distlint: Run, project: Path) -> None:
    (project / "job.log").write_text(LOG)
    result = distlint("diagnose", "job.log")
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert (
        lines[0]
        == "error: rank 1 never reached `dist.all_reduce(x)` at train.py:7, where rank 0 waits"
    )
    assert any("last output: done" in line for line in lines)
    assert "DST101 collective-in-rank-branch" in result.stdout
    assert lines[-1] == f"Read 1 file, 5 lines, {len(LOG)} bytes, 2 ranks."


def test_standard_input(distlint: Run) -> None:
    for arguments in ([], ["-"]):
        assert distlint("diagnose", *arguments, stdin=LOG).returncode == 1


def test_json(distlint: Run) -> None:
    result = distlint("diagnose", "--json", stdin=LOG)
    document = json.loads(result.stdout)
    assert document["format"] == 1
    assert document["level"] == "error"
    assert document["cause"]["id"] == "gloo-timeout"
    assert document["cause"]["ranks"] == [1]
    assert document["cause"]["at"]["line"] == 7
    assert document["read"]["lines"] == 5
    assert document == json.loads(distlint("diagnose", "--output-format=json", stdin=LOG).stdout)


def test_the_script_is_checked(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("diagnose", "--script", "train.py", stdin=LOG)
    assert "train.py:6:1: error[DST101] ranks diverge on" in result.stdout
    assert "line appears in the logs" in result.stdout
    (finding,) = json.loads(
        distlint("diagnose", "--json", "--script", "train.py", stdin=LOG).stdout
    )["script"]["findings"]
    assert (finding["code"], finding["row"], finding["named"]) == ("DST101", 6, True)


def test_nothing_found(distlint: Run) -> None:
    result = distlint("diagnose", stdin="step 1 loss 2.0\n")
    assert result.returncode == 0
    assert result.stdout.startswith("No known problem found. Read 1 file, 1 lines")


def test_information_does_not_fail(distlint: Run) -> None:
    result = distlint(
        "diagnose", stdin="V1122 [__graph_breaks] Graph break in user code at a.py:3\n"
    )
    assert result.returncode == 0
    assert distlint("diagnose", stdin="NCCL timeout\n").returncode == 0


def test_an_invented_message(distlint: Run) -> None:
    result = distlint(
        "diagnose", stdin="Warning: Low throughput detected - communication bottleneck\n"
    )
    assert "does not come from the software" in result.stdout


def test_output_goes_to_a_file(distlint: Run, project: Path) -> None:
    result = distlint("diagnose", "-o", "answer.txt", stdin=LOG)
    assert (result.returncode, result.stdout) == (1, "")
    assert (project / "answer.txt").read_text().startswith("error: rank 1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.log"], "no such file or directory: nowhere.log"),
        (["-", "--script", "nowhere.py"], "no such script: nowhere.py"),
        (["--world-size", "0"], "invalid number of processes: 0"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], message: str, distlint: Run) -> None:
    result = distlint("diagnose", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_control_characters_of_a_log_do_not_reach_the_terminal(distlint: Run) -> None:
    evil = LOG.replace("done", "\x1b]0;title\x07\x1b[2Jdone\x08")
    assert "\x1b" not in distlint("diagnose", stdin=evil).stdout


def test_what_is_only_a_remark_is_shown_where_there_is_nothing_else(distlint: Run) -> None:
    retry = "[c10d] TCP client failed to connect/validate to host 10.9.9.9:29556 - retrying (try=0)"
    result = distlint("diagnose", stdin=f"{retry}\n")
    assert result.returncode == 0
    assert result.stdout.startswith("info: connection to rank 0's store was retried")


def test_a_file_that_cannot_be_unpacked_is_not_called_empty(distlint: Run, project: Path) -> None:
    (project / "job.log.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 20)
    result = distlint("diagnose", "job.log.zst")
    assert "zstd is not supported" in result.stdout
    assert "empty" not in result.stdout
