"""Which rules a chain of selectors leaves on."""

from __future__ import annotations

import pytest

from distlint.engine.errors import ConfigError
from distlint.engine.selection import Layer, expand, resolve
from distlint.rules.table import RESERVED


def test_a_code_a_name_a_prefix_and_all() -> None:
    assert expand("DST101") == {"DST101"}
    assert expand("collective-in-rank-branch") == {"DST101"}
    assert expand("DST1") == {code for code in RESERVED if code.startswith("DST1")}
    assert expand("DST") == expand("ALL") == set(RESERVED)


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("DST999", "list all rules with `distlint rule ALL`"),
        ("E501", "list all rules with `distlint rule ALL`"),
        ("collective_in_rank_branch", "did you mean `collective-in-rank-branch`?"),
        ("DSt101", "did you mean `DST101`?"),
        ("all", "did you mean `ALL`?"),
        ("D", ""),
        ("", ""),
    ],
)
def test_what_is_no_selector(selector: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="unknown rule") as caught:
        expand(selector)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("layers", "on", "off"),
    [
        ([], ["DST000", "DST001", "DST101"], []),
        ([Layer(select=("DST1",))], ["DST000", "DST101"], ["DST001", "DST201"]),
        ([Layer(select=("DST1",), ignore=("DST101",))], ["DST102"], ["DST101"]),
        ([Layer(select=("DST101",), ignore=("DST1",))], ["DST101"], ["DST102"]),
        ([Layer(ignore=("ALL",), extend_select=("unsynced-break",))], ["DST102"], ["DST101"]),
        ([Layer(ignore=("DST000",))], ["DST101"], ["DST000"]),
        ([Layer(select=("DST2",)), Layer(extend_select=("DST101",))], ["DST101", "DST201"], []),
        ([Layer(ignore=("DST101",)), Layer(select=("DST1",))], ["DST101"], ["DST201"]),
        ([Layer(select=("DST1",)), Layer(ignore=("DST10",))], ["DST110"], ["DST101"]),
        ([Layer(extend_select=("DST1",), extend_ignore=("DST102",))], ["DST101"], ["DST102"]),
    ],
)
def test_layers(layers: list[Layer], on: list[str], off: list[str]) -> None:
    codes = resolve(layers).codes
    assert codes.issuperset(on)
    assert codes.isdisjoint(off)


def test_a_preview_rule_needs_to_be_asked_for() -> None:
    broad = resolve([Layer(select=("ALL",))])
    assert not broad.enables("DST101", preview_rule=True, preview=False)
    assert broad.enables("DST101", preview_rule=True, preview=True)
    exact = resolve([Layer(select=("collective-in-rank-branch",))])
    assert exact.enables("DST101", preview_rule=True, preview=False)
