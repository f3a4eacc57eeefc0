"""What a draft writes stands where it is put, in every version of Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distlint.fixers.draft import CannotFix
from tests.fixers.conftest import Bench

Make = Callable[[str], Bench]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a()\n", 'x = f("n")\n'),
        ("x = f'{a()}'\n", "x = f'{f(\"n\")}'\n"),
        ('x = f"{a()}"\n', "x = f\"{f('n')}\"\n"),
        ('x = rF"{a()}"\n', "x = rF\"{f('n')}\"\n"),
        ('x = f"""{a()}"""\n', 'x = f"""{f("n")}"""\n'),
        ("x = f'''\n{a()}\n'''\n", "x = f'''\n{f(\"n\")}\n'''\n"),
        ("x = f'one' f\"{a()}\"\n", "x = f'one' f\"{f('n')}\"\n"),
        ('x = f"one" + a()\n', 'x = f"one" + f("n")\n'),
        ('x = f"{y:{a()}}"\n', "x = f\"{y:{f('n')}}\"\n"),
        ('x = f"{g(b, a())}"\n', "x = f\"{g(b, f('n'))}\"\n"),
        ("x = f'''{f\"{a()}\"}'''\n", "x = f'''{f\"{f('n')}\"}'''\n"),
        ('x = g("{a()}", a())\n', 'x = g("{a()}", f("n"))\n'),
    ],
)
def test_strings_have_other_quotes_than_the_f_string_around_them(
    bench: Make, before: str, after: str
) -> None:
    draft = bench(before)
    draft.replace(draft.call("a"), 'f("n")')
    assert draft.result() == after
    compile(after, "after", "exec")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("x = f'{f\"{a()}\"}'\n", 'f("n")'),
        ('x = f"{a()}"\n', 'f("it\'s")'),
        ("x = f'{a()}'\n", "f(\"n\", 'm')"),
    ],
)
def test_no_fix_where_both_quotes_are_taken(bench: Make, text: str, content: str) -> None:
    draft = bench(text)
    draft.replace(draft.call("a"), content)
    with pytest.raises(CannotFix):
        draft.result()
