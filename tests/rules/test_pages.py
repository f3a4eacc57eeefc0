"""The pages in docs/rules are those that the rules make."""

from __future__ import annotations

import ast
import re

import pytest

from distlint.rules.base import Rule
from distlint.rules.page import index, page
from distlint.rules.registry import rules
from distlint.rules.table import RESERVED
from scripts.generate_rule_docs import differences


def test_the_files_are_up_to_date() -> None:
    assert differences() == [], "run: python -m scripts.generate_rule_docs"


def test_the_index_lists_every_code_and_links_the_rules_there_are() -> None:
    text = index()
    for code, name in RESERVED.items():
        link = f"[{name}]({name}.md)" if code in rules() else name
        assert f"| {code} | {link} |" in text


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_examples_of_a_page_are_what_their_fence_says(rule: type[Rule]) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", page(rule), re.DOTALL)
    assert len(blocks) >= 2
    for language, block in blocks:
        assert "expect:" not in block
        if rule.code != "DST000" and language == "python":
            ast.parse(block)
