"""The rules keep to what every rule has to have, and mistakes are found when they are loaded."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

from distlint.rules import registry
from distlint.rules.base import Example, Rule
from distlint.rules.registry import RegistryError, find_rule, rules
from distlint.rules.table import FAMILIES, RESERVED, implemented

# What a name must not begin with, for "allow <name>" to read well.
CURES = ("avoid-", "do-not-", "use-", "prefer-", "must-", "never-", "add-")


def test_codes_and_names_are_unique_and_well_formed() -> None:
    assert all(re.fullmatch(r"DST\d{3}", code) and code[:4] in FAMILIES for code in RESERVED)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in RESERVED.values())
    assert len(set(RESERVED.values())) == len(RESERVED)


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_a_rule_has_a_name_a_summary_and_whole_examples(rule: type[Rule]) -> None:
    assert not rule.name.startswith(CURES)
    assert rule.summary().endswith(".")
    assert len(rule.summary()) <= 100
    for example in (*rule.good, *rule.bad):
        assert example.effect != "static" or example.why_static
        assert example.code.endswith("\n")
    for example in rule.good:
        assert "# expect:" not in example.code


def test_find_rule() -> None:
    assert find_rule("DST101") is find_rule("collective-in-rank-branch") is rules()["DST101"]
    assert find_rule("DST306") is None


EXAMPLE = Example(title="t", code="x  # expect: DST101\n")


def make(**attributes: object) -> type[Rule]:
    defaults = {
        "__doc__": "It finds.",
        "code": "DST101",
        "name": "collective-in-rank-branch",
        "good": (EXAMPLE,),
        "bad": (EXAMPLE,),
    }
    return type("Made", (Rule,), {**defaults, **attributes})


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"__doc__": None}, "lacks a docstring"),
        ({"name": ""}, "lacks a name"),
        ({"good": (), "bad": ()}, "lacks a good example, a bad example"),
        ({"bad": (Example(title="t", code="x\n"),)}, "'t' marks no line with # expect"),
        ({"name": "other-name"}, "DST101 other-name is not in the table of codes"),
        ({"code": "DST999"}, "is not in the table of codes|marks no line"),
    ],
)
def test_an_incomplete_rule_is_refused(
    monkeypatch: pytest.MonkeyPatch, attributes: dict[str, object], message: str
) -> None:
    monkeypatch.setattr(registry, "_discover", lambda: [make(**attributes)])
    with pytest.raises(RegistryError, match=message):
        rules.__wrapped__()


def test_two_rules_with_one_code_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_discover", lambda: [make(), make()])
    with pytest.raises(RegistryError, match="two rules have the code DST101"):
        rules.__wrapped__()


def test_discovery_finds_what_a_module_defines_and_not_what_it_imports() -> None:
    class Base(Rule):
        good: ClassVar[tuple[Example, ...]] = (EXAMPLE,)

    module = type(registry)("a_module")
    module.Rule = Rule  # type: ignore[attr-defined]
    module.Base = Base  # type: ignore[attr-defined]
    module.Imported = make()  # type: ignore[attr-defined]
    own = make()
    own.__module__ = "a_module"
    module.Own = own  # type: ignore[attr-defined]
    assert list(registry._in_module(module)) == [own]


def test_the_codes_of_this_version_can_be_told_without_the_rules() -> None:
    assert implemented() == rules().keys()
