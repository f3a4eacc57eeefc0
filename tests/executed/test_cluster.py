"""The harness itself: it tells a hang from a failure from wrong data, and leaves nothing behind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from distlint.harness.cluster import Cluster

HEAD = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
"""


def test_a_script_that_agrees_finishes(cluster: Cluster) -> None:
    outcome = cluster.run(
        HEAD + "t = torch.ones(1) * rank\ndist.all_reduce(t)\nprint('sum =', t.item())\n", ranks=4
    )
    assert outcome.effect == "finishes", str(outcome)
    assert [rank.exit for rank in outcome.ranks] == [0] * 4
    assert [rank.values for rank in outcome.ranks] == [{"sum": ["6.0"]}] * 4
    (event,) = outcome.ranks[3].events
    assert (event.op, event.group, event.line, event.done) == ("all_reduce", (0, 1, 2, 3), 7, True)


def test_a_rank_that_waits_in_vain_is_a_hang(cluster: Cluster) -> None:
    outcome = cluster.run(HEAD + "if rank == 0:\n    dist.barrier()\nimport time\ntime.sleep(3)\n")
    assert outcome.effect == "hang", str(outcome)
    assert outcome.ranks[0].stuck
    assert not outcome.ranks[0].events[-1].done


def test_a_rank_whose_peer_has_gone_is_a_hang(cluster: Cluster) -> None:
    outcome = cluster.run(HEAD + "if rank == 0:\n    dist.barrier()\n")
    assert outcome.effect == "hang", str(outcome)


def test_a_rank_that_sleeps_for_ever_is_killed(cluster: Cluster) -> None:
    outcome = cluster.run(
        "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(600)\n", limit=1.0
    )
    assert outcome.effect == "hang", str(outcome)
    for rank in outcome.ranks:
        assert rank.exit is None
        (pid,) = re.findall(r"pid (\d+)", rank.out)
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize(
    "line",
    ["raise ValueError('mine')", "import sys; sys.exit(3)", "import os; os.abort()"],
)
def test_an_error_of_its_own_is_a_failure(cluster: Cluster, line: str) -> None:
    outcome = cluster.run(HEAD + f"if rank == 1:\n    {line}\ndist.barrier()\n")
    assert outcome.effect == "fail", str(outcome)


def test_other_arguments_are_wrong_data(cluster: Cluster) -> None:
    source = "op = dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM\n"
    outcome = cluster.run(HEAD + source + "dist.all_reduce(torch.ones(1), op=op)\n")
    assert outcome.effect == "wrong data", str(outcome)
    assert outcome.mismatch is not None
    assert "MAX" in outcome.mismatch


def test_other_values_are_wrong_data(cluster: Cluster) -> None:
    outcome = cluster.run(HEAD + "print('rank =', rank)\nprint(f'hello {rank}')\n")
    assert outcome.effect == "wrong data", str(outcome)
    assert outcome.difference is not None
    assert outcome.difference.startswith("rank:")


def test_calls_that_cross_are_seen(cluster: Cluster) -> None:
    source = """\
a, b = torch.tensor(1.0), torch.tensor(100.0)
first, second = (a, b) if rank == 0 else (b, a)
if rank == 0:
    dist.all_reduce(a)
    dist.all_reduce(b)
else:
    dist.all_reduce(b)
    dist.all_reduce(a)
"""
    outcome = cluster.run(HEAD + source)
    assert outcome.effect == "finishes", str(outcome)
    assert outcome.crossed


def test_each_script_has_a_folder_of_its_own(cluster: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nprint('args =', sys.argv[1:])\nprint(__file__, __name__)\n"
        "open('left-behind', 'w').close()\nprint('here', os.getcwd())\n"
    )
    outcome = cluster.run(script=script, arguments=("--steps", "3"))
    assert outcome.effect == "finishes", str(outcome)
    assert "args = ['--steps', '3']" in outcome.ranks[0].out
    assert f"{script} __main__" in outcome.ranks[0].out
    (folder,) = re.findall(r"here (.*)", outcome.ranks[0].out)
    assert not Path(folder).exists()


def test_a_script_costs_little(cluster: Cluster) -> None:
    cluster.run(HEAD)
    seconds = min(cluster.run(HEAD + "dist.barrier()\n").seconds for _ in range(5))
    assert seconds < 0.5
