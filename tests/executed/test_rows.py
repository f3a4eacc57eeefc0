"""What the catalogue says of functions is what they do under gloo, as far as it runs on CPUs.

A collective that rank 0 alone calls keeps the ranks from meeting, and what is neutral does not; a
rank is the rank. The scripts are in tests/executed/rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import pytest

from distlint.catalogue.catalogue import Catalogue, Entry
from distlint.catalogue.entries import Guard, RankSource, UniformSource
from distlint.catalogue.shipped import frameworks
from distlint.harness.cluster import Outcome
from tests.executed.cases import Case
from tests.executed.rows import Script, scripts

SCRIPTS = tuple(scripts())
LIMIT = 20.0


@dataclass(frozen=True)
class RowCase(Case):
    """A script of a row, run in one of its forms."""

    script: Script | None = None


def cases(form: str) -> list[RowCase]:
    """The scripts that have such a form: ``by_all``, ``by_some`` or ``of_value``."""
    return [
        RowCase(
            label=f"{script.label}-{form}",
            code="row",
            source=getattr(script, form),
            ranks=script.ranks,
            effect="finishes",
            needs=script.needs,
            why_static="",
            limit=LIMIT,
            script=script,
        )
        for script in SCRIPTS
        if (script.value is not None) == (form == "of_value")
    ]


def each(form: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases(form), ids=lambda case: case.label)


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    return Catalogue.load([root for roots in frameworks().values() for root in roots])


def entry_of(script: Script) -> Entry:
    entry = catalogue().lookup(script.call)
    assert entry is not None, f"{script.call} is not in the catalogue"
    return entry


def expected_to_meet(script: Script) -> bool:
    """Does the call wait for the others, as the catalogue says?"""
    if script.meets is not None:
        return script.meets
    entry = entry_of(script)
    return entry.collective is not None or entry.first is not None


def test_the_catalogue_knows_the_names() -> None:
    for script in SCRIPTS:
        entry = entry_of(script)
        waits, values = (entry.collective, entry.first), (entry.rank, entry.uniform, entry.guard)
        facets = values if script.value is not None else (*waits, entry.neutral)
        assert entry.name == script.call
        assert script.framework in {each.framework for each in facets if each is not None}


def test_the_scripts_compile() -> None:
    for script in SCRIPTS:
        assert (script.do == "") == (script.value is not None), script.label
        for form in ("of_value",) if script.value is not None else ("by_all", "by_some"):
            compile(getattr(script, form), script.label, "exec")


def test_what_is_not_as_the_row_says_has_a_reason() -> None:
    """A script under another condition than that of its row says which."""
    for script in SCRIPTS:
        entry = entry_of(script)
        differs = script.meets not in (None, bool(entry.collective or entry.first))
        assert differs == bool(script.why), script.label


def test_no_script_is_there_twice() -> None:
    forms = Counter((each.head, each.do, each.value, each.call) for each in SCRIPTS)
    assert [form for form, count in forms.items() if count > 1] == []


@pytest.mark.campaign
@each("by_all")
def test_all_ranks_call_it(case: RowCase, outcome: Outcome) -> None:
    assert case.script is not None
    assert outcome.effect == "finishes", str(outcome)
    collective = entry_of(case.script).collective
    if case.script.gives is None or collective is None:
        return
    given = printed(outcome, "gives")
    if collective.result in ("uniform", "uniform_in_place"):
        assert len(set(given)) == 1, given
    elif collective.result == "root_only":
        assert given[0] not in given[1:], given
    else:
        assert collective.result == "local", "the row says nothing about the result"
        assert len(set(given)) > 1, given


@pytest.mark.campaign
@each("by_some")
def test_some_ranks_call_it(case: RowCase, outcome: Outcome) -> None:
    assert case.script is not None
    wanted = "hang" if expected_to_meet(case.script) else "finishes"
    assert outcome.effect == wanted, str(outcome)


@pytest.mark.campaign
@each("of_value")
def test_each_rank_sees_its_value(case: RowCase, outcome: Outcome) -> None:
    assert case.script is not None
    assert outcome.effect == "finishes", str(outcome)
    entry = entry_of(case.script)
    wanted = [wanted_value(case.script, entry, rank) for rank in range(case.ranks)]
    given = printed(outcome, "value")
    if wanted == [None] * case.ranks:
        assert len(set(given)) == 1, given
    else:
        assert given == [str(each) for each in wanted]


def printed(outcome: Outcome, what: str) -> list[str]:
    """What each rank printed after that word."""
    return [
        line.removeprefix(f"{what}: ")
        for rank in outcome.ranks
        for line in rank.out.splitlines()
        if line.startswith(f"{what}: ")
    ]


def wanted_value(script: Script, entry: Entry, rank: int) -> object:
    """The value on a rank of two nodes with two ranks each; None if it is only to be the same."""
    if script.equals is not None:
        return eval(script.equals, {"rank": rank})
    if entry.guard is not None:
        return _where_it_runs(entry.guard, rank)
    if entry.rank is not None:
        return _tested(
            entry.rank, {"local": rank % 2, "node": rank // 2}.get(entry.rank.scope, rank)
        )
    assert entry.uniform is not None
    return _size(entry.uniform)


def _where_it_runs(guard: Guard, rank: int) -> bool:
    return {"main": rank == 0, "local_main": rank % 2 == 0, "last": rank == 3}[guard.runs_on]


def _tested(source: RankSource, number: int) -> object:
    tests = {"main": number == 0, "nonmain": number != 0, "last": number == 3}
    return number if source.test is None else tests[source.test]


def _size(source: UniformSource) -> object:
    sizes = {"world_size": 4, "local_world_size": 2, "nodes": 2, "true": True, "false": False}
    return sizes.get(source.value)
