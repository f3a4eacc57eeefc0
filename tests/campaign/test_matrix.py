"""The analyser on the matrix of collectives and on the fifteen microbenchmarks."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest

from benchmarks.microbenchmarks import MICROBENCHMARKS, Microbenchmark
from benchmarks.mpi_matrix import Case, argument_cases, matching_cases
from benchmarks.verdict import verdict


def wrong(cases: list[Case]) -> list[str]:
    with ProcessPoolExecutor(2) as pool:
        verdicts = pool.map(verdict, [case.source for case in cases], chunksize=20)
        return [
            f"{case.name} is {case.label}"
            for case, said in zip(cases, verdicts, strict=True)
            if said != case.label
        ]


@pytest.mark.campaign
def test_call_matching() -> None:
    """One in three; `python -m benchmarks.mpi_matrix` runs all."""
    assert not wrong(list(matching_cases())[::3])


@pytest.mark.campaign
def test_arguments_are_compared() -> None:
    assert not wrong(list(argument_cases()))


MISSED = {"alias": "lists and dicts are values: a change through another name is not seen"}


@pytest.mark.parametrize(
    "each",
    [
        pytest.param(
            each,
            id=each.name,
            marks=pytest.mark.xfail(strict=True, reason=MISSED[each.name])
            if each.name in MISSED
            else (),
        )
        for each in MICROBENCHMARKS
    ],
)
def test_microbenchmark(each: Microbenchmark) -> None:
    assert verdict(each.source) == each.label
