"""The oracle by itself: scripts whose verdict is beyond doubt."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.microbenchmarks import MICROBENCHMARKS
from benchmarks.mpi_matrix import cases
from benchmarks.random_programs.campaign import run
from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.idioms import IDIOMS, Idiom
from benchmarks.random_programs.mutations import MUTATIONS
from benchmarks.random_programs.oracle import InvalidProgramError, Outcome, judge
from benchmarks.random_programs.oracle.choices import Systematic
from benchmarks.random_programs.oracle.rendezvous import RANKS, WORLD, Call, Group, Job
from benchmarks.random_programs.reduce import reduce
from benchmarks.random_programs.scope import Script
from benchmarks.random_programs.scripts import GROUPS, PREDICATES, assemble, main_scope
from benchmarks.refactorings import REFACTORINGS, Refactoring, refactor

HEAD = """\
import argparse, contextlib, os, random, sys, time
import torch
import torch.distributed as dist
from project.data import load_shard
from project.switches import enabled

dist.init_process_group("gloo")
args = argparse.ArgumentParser().parse_args()
rank = dist.get_rank()
local_rank = int(os.environ["LOCAL_RANK"])
x = torch.ones(1)
"""

ALIGNED = {
    "a plain collective": """
        dist.all_reduce(x)
        """,
    "two barriers, one for each side": """
        if local_rank != 0:
            dist.barrier()
        if local_rank == 0:
            dist.barrier()
        """,
    "the same in both arms": """
        if rank == 0:
            dist.broadcast(x, src=0)
        else:
            dist.broadcast(x, src=0)
        """,
    "a group under a test of membership": """
        pair = dist.new_group([0, 1])
        if rank in (0, 1):
            dist.all_reduce(x, group=pair)
        """,
    "a group called by all": """
        pair = dist.new_group([0, 1])
        dist.all_reduce(x, group=pair)
        """,
    "a branch on what all ranks agree on": """
        if args.flag:
            dist.barrier()
        """,
    "loops of the same unknown length": """
        if rank == 0:
            for _ in args.items:
                dist.barrier()
        else:
            for _ in args.items:
                dist.barrier()
        """,
    "a question asked twice": """
        if rank == 0 and enabled("sync"):
            dist.barrier()
        if rank != 0 and enabled("sync"):
            dist.barrier()
        """,
    "a vote": """
        while True:
            stop = torch.tensor([int(time.time() > 5)])
            dist.all_reduce(stop, op=dist.ReduceOp.MAX)
            if stop.item():
                break
            dist.barrier()
        """,
    "a decision of the main rank": """
        decision = [random.random() < 0.5 if rank == 0 else None]
        dist.broadcast_object_list(decision, src=0)
        if decision[0]:
            dist.barrier()
        """,
    "a rank that fails": """
        if rank == 0:
            raise RuntimeError("bad input")
        dist.barrier()
        """,
    "a rank that exits with an error": """
        if rank == 0:
            sys.exit(1)
        dist.barrier()
        """,
    "a failure that nobody catches": """
        load_shard()
        dist.barrier()
        """,
    "a barrier in finally": """
        try:
            if rank == 0:
                load_shard()
        finally:
            dist.barrier()
        """,
    "the main process first": """
        @contextlib.contextmanager
        def main_first():
            if rank != 0:
                dist.barrier()
            yield
            if rank == 0:
                dist.barrier()
        with main_first():
            print("prepare")
        """,
    "a send and its receive": """
        if rank == 0:
            dist.send(x, dst=1)
        elif rank == 1:
            dist.recv(x, src=0)
        dist.barrier()
        """,
}

DIVERGENT = {
    "a rank that would fail after what it waits for": """
        if rank == 0:
            try:
                dist.all_reduce(x)
            finally:
                assert rank == 3
        """,
    "a barrier on one rank": """
        if rank == 0:
            dist.barrier()
        """,
    "an early return": """
        def finish():
            if rank != 0:
                return
            dist.barrier()
        finish()
        """,
    "an early exit that looks like success": """
        if rank == 3:
            sys.exit(0)
        dist.barrier()
        """,
    "a local break": """
        for _ in range(2):
            dist.all_reduce(x)
            if random.random() < 0.5:
                break
        """,
    "a local continue": """
        for _ in args.items:
            if time.time() > 5:
                continue
            dist.all_reduce(x)
        """,
    "opposite orders": """
        if rank % 2:
            dist.barrier()
            dist.all_reduce(x)
        else:
            dist.all_reduce(x)
            dist.barrier()
        """,
    "roots that differ": """
        dist.broadcast(x, src=local_rank)
        """,
    "reductions that differ": """
        dist.all_reduce(x, op=dist.ReduceOp.MAX if rank == 0 else dist.ReduceOp.MIN)
        """,
    "two groups of the same ranks": """
        one, two = dist.new_group(), dist.new_group()
        dist.barrier(group=one if rank == 0 else two)
        """,
    "a group made by its members only": """
        if rank < 2:
            dist.new_group([0, 1])
        dist.barrier()
        """,
    "a group missing a member": """
        pair = dist.new_group([0, 1])
        if rank == 0:
            dist.all_reduce(x, group=pair)
        """,
    "loops that differ by one": """
        for _ in range(1 + rank % 2):
            dist.barrier()
        """,
    "a failure that only the outer handler catches": """
        try:
            try:
                load_shard()
            except OSError:
                print("handled")
            dist.barrier()
        except Exception:
            pass
        """,
    "a swallowed failure": """
        try:
            load_shard()
            dist.all_reduce(x)
        except OSError:
            pass
        """,
    "a vote that only the destination sees": """
        stop = torch.tensor([int(time.time() > 5)])
        dist.reduce(stop, dst=0)
        if stop.item():
            dist.barrier()
        """,
    "a barrier inside the region of the first": """
        if rank != 0:
            dist.barrier()
        dist.all_reduce(x)
        if rank == 0:
            dist.barrier()
        """,
    "a cycle of three groups": """
        a, b, c = dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])
        if rank == 0:
            dist.barrier(group=a)
            dist.barrier(group=c)
        elif rank == 1:
            dist.barrier(group=b)
            dist.barrier(group=a)
        elif rank == 2:
            dist.barrier(group=c)
            dist.barrier(group=b)
        """,
    "the wrong second guard": """
        if local_rank != 0:
            dist.barrier()
        if rank == 0:
            dist.barrier()
        """,
}


def script(body: str) -> str:
    lines = body.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    return HEAD + "\n".join(line[margin:] for line in lines) + "\n"


@pytest.mark.parametrize("name", ALIGNED)
def test_aligned(name: str) -> None:
    assert judge(script(ALIGNED[name])).verdict == "aligned"


@pytest.mark.parametrize("name", DIVERGENT)
def test_divergent(name: str) -> None:
    judgement = judge(script(DIVERGENT[name]))
    assert judgement.verdict == "divergent"
    assert "waits in" in judgement.stuck


def test_few_valuations_are_all_tried() -> None:
    judgement = judge(script("if args.flag:\n    dist.barrier()"))
    assert judgement.exhaustive


def test_broken_scripts_are_told_apart() -> None:
    for body in (
        "undefined()",
        "try:\n    undefined()\nexcept Exception:\n    pass",
        "break",
        "dist.all_reduce(None)",
        "if load_shard():\n    pass",
    ):
        with pytest.raises(InvalidProgramError):
            judge(script(body))


def test_a_third_iteration_is_out_of_scope() -> None:
    judgement = judge(script("while not time.time() > 5:\n    print(1)"), limit=200)
    assert judgement.outcomes[Outcome.DISCARDED]
    assert judgement.outcomes[Outcome.ALIGNED]


def test_an_unknown_is_the_same_on_all_ranks_and_stays_the_same() -> None:
    body = "first = args.flag\nif first != args.flag:\n    if rank == 0:\n        dist.barrier()"
    assert judge(script(body)).verdict == "aligned"


def test_a_clock_is_asked_anew_each_time() -> None:
    body = (
        "late = time.time() > 5\nif late and not time.time() > 5 and rank == 0:\n    dist.barrier()"
    )
    assert judge(script(body)).verdict == "divergent"


def test_finally_runs_quietly_when_the_job_is_over() -> None:
    body = """
        try:
            dist.barrier()
        finally:
            dist.all_reduce(x)
        """
    assert judge(script("if rank == 3:\n    sys.exit(1)") + script(body)).verdict == "aligned"


def test_a_rank_that_fails_may_hang_on_its_way_out() -> None:
    body = """
        try:
            if rank == 0:
                sys.exit(1)
            dist.barrier()
        finally:
            dist.all_reduce(x)
        """
    assert judge(script(body)).verdict == "divergent"


def test_only_failures_that_would_be_caught_are_tried() -> None:
    body = """
        try:
            load_shard()
            dist.barrier()
        finally:
            dist.all_reduce(x)
        try:
            print("no call here")
        except OSError:
            pass
        """
    assert judge(script(body)).verdict == "aligned"


def test_ranks_meet_in_the_order_of_their_calls() -> None:
    log: list[tuple[int, str]] = []

    def main(rank: int) -> None:
        for name in ("first", "second"):
            job.enter(rank, Call(WORLD.ranks, name, None, None))
            log.append((rank, name))

    job = Job(main)
    assert job.run() is Outcome.ALIGNED
    assert log == [(rank, name) for name in ("first", "second") for rank in RANKS]


def test_results_reach_their_rank() -> None:
    got: dict[int, object] = {}
    group = Group(7, (1, 3))

    def main(rank: int) -> None:
        if rank in group.ranks:
            call = Call(
                group.ranks, "sum", rank, lambda all_: dict.fromkeys(all_, sum(all_.values()))
            )
            got[rank] = job.enter(rank, call)

    job = Job(main)
    assert job.run() is Outcome.ALIGNED
    assert got == {1: 4, 3: 4}


def test_systematic_choices_cover_the_tree() -> None:
    chooser = Systematic()
    seen = []
    while True:
        first = chooser.uniform(3)
        seen.append((first, chooser.local(0)) if first == 1 else (first,))
        if not chooser.advance():
            break
    assert seen == [(0,), (1, 0), (1, 1), (2,)]


@pytest.mark.parametrize("idiom", IDIOMS)
def test_idioms_are_correct(idiom: Idiom) -> None:
    for seed in range(12):
        made = Script(random.Random(seed))
        shape = made.rng.choice(("module", "main"))
        scope, setup = main_scope(made, shape, GROUPS[:2])
        source = assemble(made, setup, idiom(scope), shape, True, PREDICATES)
        assert judge(source, limit=150).verdict == "aligned", source


@pytest.mark.campaign
def test_both_classes_are_well_represented() -> None:
    results = list(run(range(600), seed=11, limit=150, oracle_only=True))
    valid = [result for result in results if result.expected != "invalid"]
    assert len(valid) > 0.95 * len(results)
    share = sum(result.expected == "divergent" for result in valid) / len(valid)
    assert 0.30 <= share <= 0.65


@pytest.mark.campaign
def test_every_mutation_happens_and_some_break_scripts() -> None:
    made = Counter(generate(5, number).mutation for number in range(1, 1600, 2))
    assert set(made) == {each.__name__ for each in MUTATIONS} | {"none"}


def test_generation_is_reproducible() -> None:
    assert [generate(3, n) for n in range(20)] == [generate(3, n) for n in range(20)]


@pytest.mark.campaign
@pytest.mark.parametrize("refactoring", REFACTORINGS)
def test_refactorings_keep_the_meaning(refactoring: Refactoring) -> None:
    applied = 0
    for number in range(400):
        if applied == 40:
            break
        source = generate(9, number).source
        changed = refactor(source, refactoring, random.Random(number))
        if changed is None:
            continue
        try:
            before = judge(source, limit=60)
        except InvalidProgramError:
            continue
        applied += 1
        after = judge(changed, limit=60)
        if before.verdict != after.verdict:
            before, after = judge(source, limit=20_000), judge(changed, limit=20_000)
        assert before.verdict == after.verdict, changed
    assert applied == 40


@pytest.mark.campaign
def test_the_labels_of_the_matrix_hold() -> None:
    wrong = [each.name for each in cases() if judge(each.source, limit=60).verdict != each.label]
    assert not wrong


def test_the_labels_of_the_microbenchmarks_hold() -> None:
    assert len(MICROBENCHMARKS) == 15
    for each in MICROBENCHMARKS:
        assert judge(each.source).verdict == each.label, each.name


def test_reduction_keeps_what_matters() -> None:
    source = next(
        script.source
        for number in range(0, 200, 2)
        if len((script := generate(4, number)).source.splitlines()) > 80
        and judge(script.source).verdict == "divergent"
    )

    def hangs(candidate: str) -> bool:
        try:
            return judge(candidate, limit=100).verdict == "divergent"
        except InvalidProgramError:
            return False

    small = reduce(source, hangs)
    assert hangs(small)
    assert len(small.splitlines()) < 25
