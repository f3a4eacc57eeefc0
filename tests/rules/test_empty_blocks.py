"""Rules on scripts with a block that holds nothing but ``pass``, which leaves no statement."""

from __future__ import annotations

import ast

import pytest

from distlint.rules.base import Rule, SourceRule
from distlint.rules.registry import rules
from tests.support import found_in

RULES = [rule for rule in rules().values() if issubclass(rule, SourceRule)]


@pytest.mark.campaign
@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_no_rule_stumbles(rule: type[Rule]) -> None:
    for example in rule.bad:
        tree = ast.parse(example.code)
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if block and isinstance(block, list):
                    setattr(node, name, [ast.Pass()])
                    found_in(ast.unparse(tree))
                    setattr(node, name, block)
