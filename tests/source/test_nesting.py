"""Texts that take a parser too much are told, at a small cost, from those that are only large."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from distlint.source.nesting import MAX_BRANCHES, examine
from distlint.source.tokens import intricate_lines
from tests.hostile import HARMLESS, KINDS


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - HARMLESS))
def test_each_kind_is_refused_in_time(kind: str) -> None:
    excess = examine(KINDS[kind](20_000)).excess

    assert excess is not None
    assert excess.message.startswith("more than")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_read_where_it_is_small(kind: str) -> None:
    assert examine(KINDS[kind](5)).excess is None


@pytest.mark.parametrize(
    "text",
    [
        f"x = {'f(' * 50}1{')' * 50}\n",
        f"x = {' + '.join(['1'] * 1500)}\n",
        "x = (" + " +\n".join(["'a'"] * 1500) + ")\n",
        f"x = select(a){'.where(b == 1)' * 300}\n",
        "x = (\n" + "    'text'\n" * 2000 + ")\n",
        "x = [\n" + "    f(1, -2),\n" * 2000 + "]\n",
        f"x = '{'(+' * 5000}'\n",
        "x = '''\n" + "((((\n" * 5000 + "'''\n",
        f"# {'(' * 5000}\n",
        "smile = ':('\n" * 2000,
        "x = f'{a}: {b[\"c\"]!r:>{d}} {{'\n" * 2000,
        "if a:\n    pass\n" + "elif b:\n    pass\n" * (MAX_BRANCHES - 1),
        ("if a:\n    pass\nelif b:\n    pass\n") * MAX_BRANCHES,
        "with a as b, c as d:\n    pass\n" * 1000,
        f"x = {'lambda a, b: a, ' * 2000}\n",
        f"x = {'not a, ' * 4000}\n",
    ],
    ids=lambda text: text[:16],
)
def test_what_people_and_programs_write_is_read(text: str) -> None:
    assert examine(text).excess is None


@pytest.mark.parametrize(
    ("text", "reason", "row"),
    [
        (f"\nx = {'f(' * 1000}{')' * 1000}\n", "nested or chained operators", 2),
        (f"x = 1\r\ny = {' + '.join(['1'] * 5000)}\n", "nested or chained operators", 2),
        ("if a: pass\n" + "elif b: pass\n" * 2000, "1,000 branches", 1002),
        ("match a:\n case [[[[[[[1]]]]]]]: pass\n", "6 nested brackets in a pattern", 2),
        ("a; del [[[[[[[b]]]]]]]\n", "6 nested brackets in a del statement", 1),
        (f"with {'a, ' * 2000}b: pass\n", "1,000 items of one with statement", 1),
        (f"x = [{'a, ' * 20_000}]\n", "20,000 tokens in one statement", 1),
    ],
    ids=lambda each: each[:16] if isinstance(each, str) else each,
)
def test_the_reason_is_given_with_its_place(text: str, reason: str, row: int) -> None:
    excess = examine(text).excess

    assert excess is not None
    assert reason in excess.message
    assert excess.row == row


@pytest.mark.parametrize(
    "hidden",
    [
        "f'{(CHAIN)}'",
        "f'{f\"{(CHAIN)}\"}'",
        "f'{a:{(CHAIN)}}'",
        'f"{\'"""\'}", CHAIN',
        "rf'''{\n(CHAIN)}'''",
        "['\\'', CHAIN]",
        "[1.e5, 0x1for 2, CHAIN]",
        "{1: 2, **{3: CHAIN}}",
        "1 + \\\n CHAIN",
    ],
)
@pytest.mark.parametrize(
    "chain", ["lambda: " * 2000 + "1", "1" + " + 1" * 4000, "[" * 250 + "]" * 250]
)
def test_a_chain_is_found_wherever_it_is(hidden: str, chain: str) -> None:
    assert examine(f"x = {hidden.replace('CHAIN', chain)}\n").excess is not None


@pytest.mark.parametrize("statements", ["a.b(1)\n", "x = -a.b + c\n", "for a in b: c(d)\n"])
def test_a_missing_bracket_leaves_the_parser_to_say_so(statements: str) -> None:
    assert examine(f"f(\n{statements * 5000}").excess is None


@pytest.mark.parametrize(
    "display",
    [
        f"[{', '.join(map(str, range(20_000)))}]",
        "[\n" + "    (1, -2.5, 'a', b'c', None),\n" * 3000 + "]",
        "{\n" + "'a:': {1: [True, False]},  # comment\n" * 3000 + "}",
        "{\n" + "1: 2,\r\n" * 3000 + "}",
        "{" + "'a', " * 3000 + "'b'}",
        "[" + "1,\n" * 3000 + "]",
        f"np.array([[{'1, ' * 3000}], [{'1, ' * 3000}]])",
        f"f(a, [{'1, ' * 3000}], b)",
    ],
    ids=lambda text: text[:12],
)
def test_a_long_display_is_cut_and_all_else_stays_in_its_place(display: str) -> None:
    text = f"before = 1\nx = {display}; y = 2\nafter = 3\n"

    examined = examine(text)

    assert examined.excess is None
    assert len(examined.text) == len(text)
    assert _statements(examined.text) == _statements(text)
    nodes = sum(1 for _ in ast.walk(ast.parse(examined.text)))
    assert nodes < sum(1 for _ in ast.walk(ast.parse(text))) / 2


@pytest.mark.parametrize(
    "display",
    ["[" + "1, " * 500 + "]", "[" + "a, 1, " * 1000 + "]", "f(" + "1, " * 3000 + ")"],
    ids=["short", "names", "call"],
)
def test_no_other_display_is_cut(display: str) -> None:
    assert examine(f"x = {display}\n").text == f"x = {display}\n"


def _statements(text: str) -> list[tuple[object, ...]]:
    return [
        (type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
    ]


def test_blank_lines_are_not_taken_for_indentation() -> None:
    assert not examine("a = 1\n" + "\n" * 1000 + "b = 1\n").steep


@pytest.mark.parametrize("prefix", ["", "f", "rt", "export", "Rf", "_f", "bf"])
def test_an_open_quote_ends_somewhere(prefix: str) -> None:
    between = ("", " ", "\n", "\r", "\r\n", "\\\n")
    quotes = ("'", '"', "'''", '"""')
    rests = ("", "\n", "{", "{'", "\\", "a\n\n(b")
    for parts in product(between, quotes, rests):
        text = prefix + "".join(parts)
        ends = [line.end for line in intricate_lines(text, length=0, depth=1, indent=1)]

        assert ends == sorted(set(ends)), text
        assert all(end <= len(text) for end in ends), text
