"""Scripts of fixed sources: they take the way that got stuck before, and finish."""

from __future__ import annotations

from textwrap import dedent

import pytest

from distlint.confirm.repaired import LEFT, NO_FIX, TOO_MUCH, UNSAFE
from distlint.confirm.reproducers import FROM_SOURCE, Reproducer
from distlint.confirm.run import confirmed
from distlint.harness.cluster import missing
from tests.confirm.scripts import bad_examples, in_folder, written_after_fixes
from tests.confirm.test_scripts import START

runs = pytest.mark.skipif(missing() is not None, reason="torch is not installed")

EVALUATION = START + dedent(
    """\
    def evaluate(loader):
        total = torch.zeros(1)
        for batch in loader:
            total += batch.sum()
        dist.all_reduce(total)
        return total.item()

    def train(args, loader):
        for epoch in range(args.epochs):
            if epoch % args.every == 0 and rank == 0:
                loss = evaluate(loader)
                print(loss)
            dist.barrier()

    train(parse(), [])
    """
)
DEADLINE = START + dedent(
    """\
    import time

    def fit(seconds):
        started = time.time()
        while True:
            dist.all_reduce(x)
            if time.time() - started > seconds:
                break
        dist.barrier()

    fit(3)
    """
)
WITHOUT_FIX = "dist.broadcast(x, src=rank)\n"


def body(source: str) -> str:
    (found,) = written_after_fixes(source)
    assert found.script is not None, found.reason
    return found.script.source.partition("rank = dist.get_rank()\n")[2]


def test_the_way_that_got_stuck_is_taken_again() -> None:
    assert body(EVALUATION) == dedent(
        """\


        def evaluate():  # line 7
            dist.all_reduce(torch.zeros(1))  # line 11: dist.all_reduce(total)


        def train():  # line 14
            for _ in range(1):  # line 15: for epoch in range(args.epochs)
                # line 16: if epoch % args.every == 0 is true
                evaluate()  # line 17: evaluate(loader)
                dist.barrier()  # line 20: dist.barrier()


        train()  # line 22: train(parse(), [])
        print(f"rank {rank} has finished", flush=True)
        """
    )


def test_lines_are_those_of_the_fixed_source() -> None:
    text = body(DEADLINE)
    assert "# line 14: any_rank(time.time() - started > seconds)" in text
    assert "# line 16: dist.barrier()" in text


def test_the_heading_says_that_it_finishes() -> None:
    (found,) = written_after_fixes(EVALUATION)
    assert found.script is not None
    head = found.script.source.split("import datetime")[0]
    assert "after its fix, to run." in head
    assert "Expected: all ranks finish." in head
    assert "the line of the fixed source" in head


@pytest.mark.parametrize(
    ("source", "unsafe", "reasons"),
    [
        (DEADLINE, False, [UNSAFE]),
        (START + WITHOUT_FIX, True, [NO_FIX]),
    ],
)
def test_without_a_fix_a_reason_is_given(source: str, unsafe: bool, reasons: list[str]) -> None:
    assert [each.reason for each in written_after_fixes(source, unsafe=unsafe)] == reasons


def test_another_hang_on_the_way_is_named() -> None:
    reasons = [each.reason for each in written_after_fixes(DEADLINE + WITHOUT_FIX)]
    assert reasons == ["without it, ranks get stuck in line 19 of the fixed source", NO_FIX]


@pytest.fixture(scope="module")
def examples() -> list[Reproducer]:
    return [each for code in bad_examples().values() for each in written_after_fixes(code)]


@pytest.mark.campaign
def test_the_fixed_examples_of_the_rules_have_scripts(examples: list[Reproducer]) -> None:
    assert {each.reason for each in examples} == {"", NO_FIX, FROM_SOURCE}
    assert sum(each.script is not None for each in examples) > 25


@runs
def test_a_fixed_script_finishes() -> None:
    found = [*written_after_fixes(EVALUATION), *written_after_fixes(DEADLINE)]
    assert [each.effect for each in confirmed(found)] == ["finishes"] * 2


@runs
@pytest.mark.campaign
def test_the_fixed_examples_finish(examples: list[Reproducer]) -> None:
    with_script = [each for each in examples if each.script is not None]
    assert {each.effect for each in confirmed(with_script)} == {"finishes"}


@runs
@pytest.mark.campaign
@pytest.mark.parametrize("folder", ["bugs", "variants", "cases"])
def test_what_is_fixed_in_the_scripts_of_the_tests_finishes(folder: str) -> None:
    labels, found = [], []
    for name, source in in_folder(folder).items():
        for each in written_after_fixes(source):
            labels.append(f"{name}: {each.finding.code} {each.reason}")
            found.append(each)
    outcomes = list(zip(labels, confirmed(found), strict=True))
    assert {each.effect for _, each in outcomes} <= {None, "finishes"}
    without = [label for label, each in outcomes if each.effect is None]
    unexplained = [each for each in without if not each.endswith((NO_FIX, FROM_SOURCE))]
    assert len([each for each in unexplained if each.endswith((LEFT, TOO_MUCH))]) <= 5, unexplained
    assert len(unexplained) <= 6, unexplained
