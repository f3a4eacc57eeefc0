"""Which loops go over batches of one rank."""

from __future__ import annotations

from textwrap import dedent

import pytest

from distlint.analyzer import ir
from distlint.analyzer.ir.lower import by_ast
from distlint.analyzer.static.batches import over_batches

HELPERS = """\
def train(model):
    with model.no_sync():
        pass


def report(losses):
    dist.all_reduce(losses)
"""


def loops(body: str) -> int:
    """How many loops of a function are taken for loops over batches."""
    lowered = by_ast(HELPERS + dedent(body))
    assert lowered is not None
    functions = {s.function.name: s.function for s in lowered.body if isinstance(s, ir.Define)}

    def called(name: str) -> list[ir.Function]:
        return [functions[name]] if name in functions else []

    return len(over_batches(functions["epoch"].body, called))


@pytest.mark.parametrize(
    ("number", "body"),
    [
        pytest.param(1, "    report(total)\n", id="reduced by what is called after it"),
        pytest.param(1, "    dist.all_reduce(total)\n", id="reduced after it"),
        pytest.param(0, "    print(total)\n", id="nothing is reduced"),
        pytest.param(0, "    model.train()\n", id="a function with no_sync"),
    ],
)
def test_a_loop_is_over_batches_if_something_reduces_what_it_gave(number: int, body: str) -> None:
    loop = """\
    def epoch(model, loader):
        total = 0
        for batch in loader:
            total += model(batch)
    """
    assert loops(dedent(loop) + body) == number


def test_what_is_called_in_the_loop_says_nothing() -> None:
    assert not loops(
        """\
        def epoch(model, loader):
            total = 0
            for batch in loader:
                report(batch)
                total += model(batch)
        """
    )
