"""The collective watch: it names operation, line and rank; silent on correct scripts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.watch_scenarios.judge import problems
from benchmarks.watch_scenarios.scenarios import SCENARIOS, Scenario
from benchmarks.watch_scenarios.script import source, tables
from distlint.harness.cluster import Cluster, Outcome, missing
from tests.executed.cases import Case
from tests.support import ROOT

EXAMPLES = ROOT / "examples"
CHOSEN = {
    "missing": ("one of three identical calls is skipped",),
    "early exit": ("rank 1 is killed",),
    "exception": ("rank 0 raises, and may host the store",),
    "infinite loop": ("rank 1 loops indefinitely",),
    "swapped": (
        "different shapes in opposite order",
        "same shapes in opposite order, through a helper",
        "one rank of four in opposite order",
    ),
    "reduce op": ("SUM on rank 0, MAX on rank 1",),
    "root": ("broadcast with each rank as root",),
    "dtype": ("int32 and float32 of the same size, so nothing hangs",),
    "shape": ("the last batch of one rank is smaller",),
    "group": ("two groups of the same ranks in opposite order", "new_group on its members only"),
    "sub-group": ("different operations within a sub-group",),
    "async": ("different operations are started",),
    "object": ("all_gather_object on rank 0 only",),
    "functional": ("sum on rank 0, max on rank 1",),
    "wrapper": ("an additional training step on rank 0",),
}
WRONG = [s for s in SCENARIOS if s.name in CHOSEN.get(s.kind, ())]
CORRECT = [s for s in SCENARIOS if s.correct]
RUNS = [(s, mode) for s in [*WRONG, *CORRECT] for mode in ("watch", "strict")]


def case_of(scenario: Scenario, mode: str) -> Case:
    label = f"{mode}: {scenario.kind}, {scenario.name}"
    text = source(scenario, mode)
    return Case(label, "scenario", text, scenario.ranks, "", (), "", limit=5)


def all_tables(outcome: Outcome) -> list[str]:
    """What all ranks together have printed."""
    return [table for rank in outcome.ranks for table in tables(rank.err)]


def test_every_choice_is_a_scenario() -> None:
    assert len(WRONG) == sum(map(len, CHOSEN.values()))
    assert len({(s.kind, s.name) for s in SCENARIOS}) == len(SCENARIOS)
    assert len([s for s in SCENARIOS if not s.correct]) >= 40


@pytest.mark.parametrize(
    ("scenario", "mode", "case"),
    [
        pytest.param(
            scenario,
            mode,
            case_of(scenario, mode),
            id=case_of(scenario, mode).label,
            marks=pytest.mark.campaign if mode == "strict" and scenario.correct else (),
        )
        for scenario, mode in RUNS
    ],
)
def test_scenario(scenario: Scenario, mode: str, case: Case, outcome: Outcome) -> None:
    assert problems(scenario, mode, outcome) == [], str(outcome)


@pytest.mark.parametrize(
    ("style", "needs"),
    [("nanogpt", ()), ("accelerate", ("accelerate",)), ("lightning", ("lightning",))],
)
def test_correct_example_is_silent_under_the_strict_watch(
    cluster: Cluster, style: str, needs: tuple[str, ...]
) -> None:
    reason = missing(needs)
    if reason is not None:
        pytest.skip(reason)
    script = EXAMPLES / f"{style}_style" / "correct.py"
    start = f"""\
import os, sys
os.environ["DISTLINT_WATCH"] = "strict"
from distlint.runtime import launch
sys.argv = ["launch", {str(script)!r}]
launch.main()
from distlint.runtime.collective_watch import environment
environment._end(os.getpid())
"""
    outcome = cluster.run(start, needs=needs, limit=30)
    assert outcome.effect == "finishes", str(outcome)
    assert not any(tables(rank.err) for rank in outcome.ranks), str(outcome)


def test_a_stall_that_ends_is_reported_once_and_does_no_harm(cluster: Cluster) -> None:
    slow = Scenario(
        "correct",
        "a very slow rank",
        """\
import time
if rank == 0:
    time.sleep(1.2)
dist.all_reduce(t)
print("sum =", t.sum().item())
dist.barrier()
""",
    )
    outcome = cluster.run(source(slow, "strict"), name="scenario")
    assert outcome.effect == "finishes", str(outcome)
    (table,) = all_tables(outcome)
    assert "rank 0 did not reach call 1" in table
    assert "not in a collective for" in table
    assert "see `distlint rule DST121` (long-rank0-work)" in table
    assert [rank.values["sum"] for rank in outcome.ranks] == [["8.0"]] * 2


KILLED = Scenario(
    "early exit",
    "rank 1 is killed before it has published its last calls",
    """\
import os, signal
for step in range(3):
    dist.all_reduce(t)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(t)
""",
)


@pytest.mark.parametrize("mode", ["watch", "strict"])
def test_no_call_is_named_that_a_killed_rank_has_made(cluster: Cluster, mode: str) -> None:
    outcome = cluster.run(source(KILLED, mode).replace("interval=0.1", "interval=0.5"), ranks=3)
    (table,) = all_tables(outcome)
    assert re.search("rank 1 left (after call [123] and )?before the end of call 4\n", table), table
    assert "first difference: call 4\n" in table
    assert "rank 1: was killed" in table
    assert "has not reached it" not in table


def test_the_next_rank_prints_where_the_lowest_cannot(cluster: Cluster) -> None:
    script = """\
import os
import torch.distributed as dist
from distlint.runtime import CollectiveMismatch, watch
from distlint.runtime.collective_watch import session, turns

dist.init_process_group("gloo")
rank = dist.get_rank()
turns.TURN = 0.3
if rank == 0:
    session.write = lambda text: os._exit(9)  # killed at the wrong moment
try:
    with watch(strict=True, interval=0.1):
        dist.barrier() if rank else dist.all_gather_object([None] * 3, rank)
except CollectiveMismatch as error:
    print("table =", "different operations" in error.table)
"""
    outcome = cluster.run(script, ranks=3)
    (table,) = all_tables(outcome)
    assert "seen by rank 1" in table
    assert [rank.exit for rank in outcome.ranks] == [9, 0, 0]
    assert outcome.ranks[2].values["table"] == ["True"]


def test_a_mismatch_that_is_long_past_is_found(cluster: Cluster) -> None:
    quick = Scenario(
        "reduce op",
        "one of many calls, while the watch sleeps",
        """\
for step in range(700):
    dist.all_reduce(t, dist.ReduceOp.MIN if rank and step == 30 else dist.ReduceOp.MAX)  # A
""",
    )
    outcome = cluster.run(source(quick, "watch"), name="scenario")
    (table,) = all_tables(outcome)
    assert "first difference: call 31\n" in table
    assert "rank 1: all_reduce(MIN) float32[4]" in table


def test_a_watch_that_begins_late_and_ends_early(cluster: Cluster) -> None:
    script = """\
import torch
import torch.distributed as dist
from torch.distributed import all_reduce
from distlint.runtime import CollectiveMismatch, watch

dist.init_process_group("gloo")
rank = dist.get_rank()
before = [all_reduce]
all_reduce(torch.ones(1))
for _ in range(2):
    try:
        with watch(strict=True, interval=0.1):
            assert all_reduce is not before[0]
            all_reduce(torch.ones(1))
            with watch():
                all_reduce(torch.ones(1 + rank))
    except CollectiveMismatch as error:
        print("found =", *error.args)
        assert "call 2" in error.table
assert all_reduce is before[0] is dist.all_reduce
all_reduce(torch.ones(1))
"""
    outcome = cluster.run(script)
    assert outcome.effect == "finishes", str(outcome)
    for rank in outcome.ranks:
        said = "the shape of all_reduce differs: rank 0 all_reduce(SUM) float32[1], rank 1 all_"
        assert [text.startswith(said) for text in rank.values["found"]] == [True, True]


def test_a_rank_that_never_comes_is_an_error_after_the_timeout(cluster: Cluster) -> None:
    script = """\
import time
import torch.distributed as dist
from distlint.runtime import RankMissing, watch

dist.init_process_group("gloo")
with watch(strict=True, timeout=0.6, interval=0.1):
    if dist.get_rank() == 0:
        began = time.monotonic()
        try:
            dist.barrier()
        except RankMissing as error:
            print("waited =", 0.5 < time.monotonic() - began < 4)
            print("said =", error)
    else:
        time.sleep(3)
"""
    outcome = cluster.run(script)
    values = outcome.ranks[0].values
    assert values["waited"] == ["True"]
    (said,) = values["said"]
    wanted = r"\[rank 0\] at .*script.py:10 in <module>: rank 1 did not reach call 1 \(rank 0 .*\)"
    assert re.fullmatch(wanted, said), said


def test_the_utilities_hand_on_what_the_strict_watch_says(cluster: Cluster) -> None:
    script = """\
import torch.distributed as dist
from distlint.runtime import CollectiveMismatch, DistributedError, any_rank, watch

dist.init_process_group("gloo")
with watch(strict=True, interval=0.1):
    try:
        any_rank(True) if dist.get_rank() == 0 else dist.barrier()
    except DistributedError as error:
        print("kind =", isinstance(error, CollectiveMismatch), "script.py:7" in error.site)
"""
    outcome = cluster.run(script)
    assert [rank.values["kind"] for rank in outcome.ranks] == [["True True"]] * 2


def test_what_a_call_costs(cluster: Cluster) -> None:
    (rank,) = cluster.run(COST, ranks=1).ranks
    assert rank.exit == 0, rank.err
    assert float(rank.out) < 30, "microseconds that the asynchronous watch adds to a call"


COST = """\
import time, torch, torch.distributed as dist
from distlint.runtime.collective_watch import calls, hooks, session, watcher

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
watch = watcher.Watcher(session.Options())
watch._session = type("Session", (), {"agreement": None, "seen": set()})()
watch._session.note = lambda kind, *_: watch._session.seen.add(kind)

def nothing(tensor, op=dist.ReduceOp.SUM, group=None, async_op=False):
    return None

watched = hooks.Hooks(watch)._collective(*calls.COLLECTIVES["all_reduce"], nothing)
tensor = torch.ones(4)

def spent(call):
    began = time.perf_counter()
    for _ in range(2000):
        call(tensor)
    return (time.perf_counter() - began) / 2000 * 1e6

print(min(spent(watched) for _ in range(9)) - min(spent(nothing) for _ in range(9)))
assert watch.journal.groups[dist.group.WORLD].count == 18000
"""


# -- distlint run ---------------------------------------------------------------------------------


def start(*arguments: str, cwd: Path = ROOT) -> subprocess.Popen[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "distlint", "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment,
    )


@pytest.mark.campaign
def test_run_names_the_rule_and_the_line() -> None:
    pytest.importorskip("torch")
    run = start("-n", "2", "--watch=strict", "examples/nanogpt_style/buggy.py")
    _, err = run.communicate(timeout=60)
    assert run.returncode == 1
    table = tables(err)[0]
    (line,) = re.findall(r"rank 0: (all_reduce.*)", table)[:1]
    assert "buggy.py:79 in average" in line
    assert "rank 1: backward(CharModel) at examples/nanogpt_style/buggy.py:121" in table
    assert "DST101 collective-in-rank-branch, examples/nanogpt_style/buggy.py:113" in table
    assert re.search(r"CollectiveMismatch: \[rank 1\] at .*buggy.py:\d+ in .*: different oper", err)


@pytest.mark.campaign
def test_run_hands_on_arguments_and_the_exit_status(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport torch, torch.distributed as dist\nimport helper\n"
        "from distlint.runtime import distributed\n"
        "assert __name__ == '__main__'\nprint(sys.argv[1:], helper.NAME)\n"
        "with distributed() as world:\n    dist.barrier()\n"
        "    if world.rank == 1:\n        sys.exit(7)\n"
        "    dist.all_reduce(torch.ones(1))\n"
    )
    (tmp_path / "helper.py").write_text("NAME = 'beside the script'\n")
    run = start("-n", "2", "--watch", str(script), "--watch", "-n", "3", cwd=tmp_path)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 7, err
    assert "['--watch', '-n', '3'] beside the script" in out
    assert "rank 1: exited with status 7 at script.py:10; last collective" in tables(err)[0]


@pytest.mark.campaign
def test_a_table_is_printed_before_the_launcher_ends_the_others(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\nimport torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\ndist.barrier()\n"
        "if os.environ['RANK'] == '1':\n    time.sleep(1)\n    os._exit(3)\n"
        "work = dist.all_reduce(torch.ones(1), async_op=True)\n"
        "try:\n    work.wait()\nexcept RuntimeError:\n    time.sleep(60)\n"
    )
    run = start("-n", "2", "--watch", str(script), cwd=tmp_path)
    _, err = run.communicate(timeout=60)
    assert run.returncode not in (0, 130), err
    (table,) = tables(err)
    assert "rank 0: waits for all_reduce(SUM) float32[1] (call 2)" in table
    assert f"at {script.name}:8" in table
    assert "rank 1: was killed" in table


def test_compiled_collectives_run_as_without_the_watch(cluster: Cluster) -> None:
    """They are not numbered, and the watch is no reason to leave the graph."""
    script = """\
import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as functional
from distlint.runtime import watch

dist.init_process_group("gloo")

def reduced(x):
    dist.all_reduce(x)
    return functional.all_reduce(x * 2, "sum", dist.group.WORLD) + 1

with watch(strict=True, interval=0.1):
    compiled = torch.compile(reduced, fullgraph=True, backend="aot_eager")
    print("value =", compiled(torch.ones(1)).item())
    dist.barrier()
"""
    outcome = cluster.run(script, limit=30)
    assert outcome.effect == "finishes", str(outcome)
    assert [rank.values["value"] for rank in outcome.ranks] == [["9.0"]] * 2


def test_a_rank_that_falls_back_from_its_graph_is_no_mismatch(cluster: Cluster) -> None:
    """After too many shapes it runs what the others have compiled, and they are not counted."""
    script = """\
import torch
import torch._dynamo
import torch.distributed as dist
from distlint.runtime import watch

dist.init_process_group("gloo")
if dist.get_rank() == 1:
    torch._dynamo.config.recompile_limit = 1

def reduced(x):
    dist.all_reduce(x)
    return x * 2

with watch(strict=True, interval=0.1, timeout=3):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    model = torch.compile(model, backend="eager", dynamic=False)
    reduced = torch.compile(reduced, backend="eager", dynamic=False)
    for length in (2, 3, 4):
        model(torch.ones(length, 4)).sum().backward()
        reduced(torch.ones(length))
        dist.barrier()
"""
    outcome = cluster.run(script, limit=30)
    assert [rank.exit for rank in outcome.ranks] == [0, 0], str(outcome)
    assert not any("distlint watch" in rank.err for rank in outcome.ranks)


def test_parallelism_of_torch_is_silent_under_the_strict_watch(cluster: Cluster) -> None:
    """FSDP over tensor parallelism, a checkpoint of another thread, ZeRO, sends and receives."""
    script = """\
import os
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from distlint.runtime import watch

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
with watch(strict=True, interval=0.2):
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    parallelize_module(net, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    for part in (net[0], net[2], net):
        fully_shard(part, mesh=mesh["dp"])
    saving = dist.new_group()
    done = dcp.async_save({"net": net.state_dict()}, checkpoint_id="saved", process_group=saving)
    for step in range(2):
        net(torch.ones(4, 8)).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    done.result()
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam)
    for step in range(2):
        with model.no_sync():
            model(torch.ones(2, 8)).sum().backward()
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
    optimizer.consolidate_state_dict()
    to, got = (rank + 1) % world, torch.zeros(1)
    for each in dist.batch_isend_irecv([
        dist.P2POp(dist.isend, torch.ones(1), to), dist.P2POp(dist.irecv, got, (rank - 1) % world)
    ]):
        each.wait()
    works = [dist.all_reduce(torch.ones(1), async_op=True) for _ in range(5)]
    for each in reversed(works):
        each.wait()
"""
    outcome = cluster.run(script, ranks=4, limit=40)
    for rank in outcome.ranks:
        assert rank.exit == 0, str(outcome)
        assert "distlint watch" not in rank.err


def test_a_watch_leaves_little_on_the_store(cluster: Cluster) -> None:
    script = """\
import torch
import torch.distributed as dist
from distlint.runtime import watch

dist.init_process_group("gloo")
store = dist.distributed_c10d._get_default_store()
dist.barrier()
for strict in (False, True, False, True):
    before = store.num_keys()
    with watch(strict=strict, interval=0.1):
        for _ in range(50):
            dist.all_reduce(torch.ones(1))
    dist.barrier()
    print("more =", store.num_keys() - before < 9)
    dist.barrier()
"""
    outcome = cluster.run(script)
    assert [rank.values["more"] for rank in outcome.ranks] == [["True"] * 4] * 2, str(outcome)


def test_forked_workers_can_be_ended_and_do_not_end_their_parent() -> None:
    pytest.importorskip("torch")
    script = """\
import multiprocessing, os, signal, time
os.environ["DISTLINT_WATCH"] = "1"
import distlint.runtime
assert callable(signal.getsignal(signal.SIGTERM))
worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
worker.start()
time.sleep(0.2)
worker.terminate()
worker.join(10)
time.sleep(0.2)
print("worker", worker.exitcode)
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (run.stdout, run.returncode) == ("worker -15\n", 0), run.stderr


def said_by_distlint(err: str) -> list[str]:
    """The lines of standard error, without what torchrun says of OMP_NUM_THREADS."""
    return [line for line in err.splitlines() if not re.match(r"W\d{4} .*/run.py:|$", line)]


@pytest.mark.campaign
def test_ctrl_c_shows_where_the_ranks_are(tmp_path: Path) -> None:
    """Also before anything has lasted long enough to be reported, and only if ranks wait."""
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\nimport torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "if os.environ['RANK'] == '1':\n"
        "    time.sleep(1.5)\n    open('there', 'w').close()\n    time.sleep(60)\n"
        "dist.barrier()\n"
    )
    run = start("-n", "2", "--watch", "--patience", "40", str(script), cwd=tmp_path)
    deadline = time.monotonic() + 40
    while not (tmp_path / "there").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    (table,) = tables(err)
    assert "rank 1 did not reach call 1" in table
    assert "rank 0: in barrier (call 1)" in table
    assert re.search(rf"rank 1: not in a collective for .* s, at {script.name}:7", table)
    lines = said_by_distlint(err.replace(table, ""))
    assert lines == ["distlint: interrupted; all processes have ended"]


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open('pid' + os.environ['RANK'], 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    run = start("-n", "2", str(script), cwd=tmp_path)
    notes = [tmp_path / "pid0", tmp_path / "pid1"]
    deadline = time.monotonic() + 40
    while not all(note.exists() and note.read_text() for note in notes):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert time.monotonic() - began < 6
    assert run.returncode == 130
    assert said_by_distlint(err) == ["distlint: interrupted; all processes have ended"]
    for note in notes:
        with pytest.raises(ProcessLookupError):
            os.kill(int(note.read_text()), 0)
