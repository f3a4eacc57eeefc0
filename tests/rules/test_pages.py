"""The pages in docs/rules are those that the rules make."""

from __future__ import annotations

import ast
import inspect
import re
import sys

import pytest

from distlint.rules.base import Rule, WitnessRule
from distlint.rules.page import index, page
from distlint.rules.registry import rules
from distlint.rules.table import RESERVED
from distlint.source.finding import Severity
from scripts.generate_rule_docs import differences


def test_the_files_are_up_to_date() -> None:
    assert differences() == [], "run: python -m scripts.generate_rule_docs"


def test_the_index_lists_every_code_and_links_the_rules_there_are() -> None:
    text = index()
    for code, name in RESERVED.items():
        link = f"[{name}]({name}.md)" if code in rules() else name
        assert f"| {code} | {link} |" in text


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_a_page_names_the_severities_that_its_findings_have(rule: type[Rule]) -> None:
    if issubclass(rule, WitnessRule):
        return
    tree = ast.parse(inspect.getsource(sys.modules[rule.__module__]))
    used = {
        Severity[node.attr]
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Severity"
    }
    usual = {rule.severity} if rule.severity is not None else set()
    assert used == {*usual, *rule.exceptions} or not usual
    named = re.findall(r"\b(error|warning|info)s?\b", rule.documentation().lower())
    assert {each.value for each in used - usual} - {*named} == set()


SECTIONS = (
    "What to do",
    "Use instead",
    "Why is this bad?",
    "What is reported",
    "Where it is shown",
    "What is not reported",
    "Fix safety",
    "References",
)
ABOUT_THE_RUN = {"DST000", "DST001", "DST002"}
"""Rules about distlint itself: no code of the reader is bad."""

LONGEST_SNIPPET = 8
"""Lines: a snippet is what a reader sees first, not a program."""


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_a_page_shows_the_bad_and_the_good_before_it_explains(rule: type[Rule]) -> None:
    summary, *sections = re.split(r"^## (.+)\n", rule.documentation(), flags=re.MULTILINE)
    headings, texts = sections[::2], sections[1::2]
    assert headings == [heading for heading in SECTIONS if heading in headings]
    assert {"Why is this bad?", "What is reported"} <= set(headings)
    if rule.code not in ABOUT_THE_RUN:
        assert headings[0] == "Use instead"
        for text in (summary, texts[0]):
            snippet = re.search(r"^```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
            assert snippet, "a snippet of the bad code, and one of the good"
            assert len(snippet[1].splitlines()) <= LONGEST_SNIPPET


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_examples_of_a_page_are_what_their_fence_says(rule: type[Rule]) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", page(rule), re.DOTALL)
    assert len(blocks) >= 2
    for language, block in blocks:
        assert "expect:" not in block
        if rule.code != "DST000" and language == "python":
            ast.parse(block)
