"""Python that parsers choke on, in any size, and processes with limits to try it in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"
"""What a hostile part is put behind: it is analysed, and something is found in it."""

MEGABYTE = 1024 * 1024

Maker = Callable[[int], str]


def around(before: str, inner: str = "1", after: str = "", *, start: str = "x = ") -> Maker:
    """What makes an expression with ``before`` and ``after`` so many times around another."""
    return lambda size: f"{start}{before * size}{inner}{after * size}\n"


def display(element: str, brackets: str = "[]") -> Maker:
    return lambda size: f"x = {brackets[0]}{element * size}{brackets[1]}\n"


def case(before: str, after: str = "") -> Maker:
    return lambda size: f"match a:\n  case {before * size}1{after * size}: pass\n"


def lines(line: str, first: str = "", last: str = "") -> Maker:
    return lambda size: f"{first}{line * size}{last}"


def blocks(*headers: str) -> Maker:
    """What makes blocks in blocks, no more than tokenizers allow."""

    def make(size: int) -> str:
        rows = [" " * depth + headers[depth % len(headers)] for depth in range(min(size, 99))]
        return "\n".join([*rows, " " * len(rows) + "pass\n"])

    return make


KINDS: dict[str, Maker] = {
    # operators
    "lambda": around("lambda: "),
    "lambda with default": around("lambda a=", "1", ": 1"),
    "lambda with parameters": around("lambda a, b: "),
    "conditional": around("1 if y else "),
    "lambda in conditional": around("lambda: 1 if a else "),
    "not": around("not "),
    "not not, -": around("not -", "1"),
    "minus": around("-"),
    "invert": around("~"),
    "await": around("await ", start="async def f():\n    x = "),
    "power": around("2**"),
    "sum": around("1+"),
    "product": around("1*"),
    "operators": around("1+1*1**1|"),
    "lines of a sum": around("1 + \\\n"),
    "sum of calls": around("", "a", " + f(1, 2, 3, 4, 5, 6, 7, 8)"),
    "and": around("a and ", "b"),
    "or": around("a or ", "b"),
    "and, or": around("a and b or ", "b"),
    "and of or": lambda size: f"x = {' and '.join(f'(r == {i} or y{i})' for i in range(size))}\n",
    "comparison": around("a < "),
    "not in": around("a not in "),
    "walrus": around("(y := ", "1", ")"),
    # attributes, calls, subscripts
    "attribute": around("", "a", ".b"),
    "call": around("", "a", "(1)"),
    "subscript": around("", "a", "[0]"),
    "method": around("", "a", ".b(1)"),
    "decorated by a chain": lambda size: f"@a{'.b()' * size}\ndef f(): pass\n",
    # brackets
    "nested calls": around("f(", "1", ")"),
    "nested arguments": around("f(1, ", "1", ")"),
    "parentheses": around("(", "1", ")"),
    "nested lists": around("[", "1", "]"),
    "nested sets": around("{", "1", "}"),
    "nested dicts": around("{1: ", "1", "}"),
    "nested tuples": around("(1, ", "1", ")"),
    "nested brackets": around("([{", "1", "}])"),
    "open lists": around("["),
    "open dicts": around("{1: "),
    "nested subscripts": around("a[", "1", "]"),
    "nested slices": around("a[:", "1", "]"),
    "lambda in parentheses": around("(lambda: ", "1", ")"),
    "lambda in tuples": around("(lambda: 1, ", "1", ")"),
    "sum in parentheses": around("1+(", "1", ")"),
    "not in parentheses": around("not (", "1", ")"),
    "starred": around("[*", "a", "]"),
    "double starred": around("f(**", "a", ")"),
    "yield": around("(yield ", "1", ")", start="def f():\n    x = "),
    "generators": around("(a for a in ", "b", ")"),
    "comprehensions": around("[", "1", " for a in b]"),
    "clauses": lambda size: f"x = [a{' for a, b in c' * size}]\n",
    "filters": lambda size: f"x = [a for a in b{' if a' * size}]\n",
    "much in brackets": lambda size: (
        f"x = {'f(' * min(size, 90)}{'a, ' * size}{')' * min(size, 90)}\n"
    ),
    # strings
    "strings": around("'a' ", "'b'"),
    "lines of strings": lambda size: "x = (\n" + "    'a'\n" * size + ")\n",
    "f-strings": around("f'{a}' ", "''"),
    "nested f-strings": around("f'{", "1", "}'"),
    "format specifications": lambda size: f"x = f'{'{a:' * size}{'}' * size}'\n",
    "sum in an f-string": lambda size: f"x = f'{{{'1+' * size}1}}'\n",
    "fields": lambda size: f"x = f'{'{a}' * size}'\n",
    # targets and statements
    "nested targets": around("(", "a", ",)", start="a = "),
    "assignments": around("y = "),
    "loop targets": lambda size: f"for {'(' * size}a{',)' * size} in b: pass\n",
    "del": lambda size: f"del {'(' * size}a{',)' * size}\n",
    "annotation": lambda size: f"x: {'a[' * size}1{']' * size} = 1\n",
    "type alias": lambda size: f"type X = {'a[' * size}1{']' * size}\n",
    "type parameters": lambda size: f"def f[{', '.join(f'T{i}' for i in range(size))}](): pass\n",
    "decorators": lines("@a\n", last="def f(): pass\n"),
    "nested decorator": lambda size: f"@{'a(' * size}{')' * size}\ndef f(): pass\n",
    "with items": lambda size: f"with {', '.join(['a'] * size)}: pass\n",
    "module": lambda size: f"import a{'.b' * size}\n",
    "relative module": lambda size: f"from {'.' * size} import a\n",
    "elif": lines("elif b: pass\n", "if a: pass\n"),
    "except": lines("except E: pass\n", "try: pass\n"),
    "case": lines("  case 1: pass\n", "match a:\n"),
    "alternatives": case("1 | "),
    "nested sequences": case("[", "]"),
    "nested classes": case("A(", ")"),
    "nested mappings": case("{1: ", "}"),
    "pattern in parentheses": case("(", " as y)"),
    "blocks": blocks("if a:", "for a in b:", "while a:", "with a:"),
    "functions": blocks("def f():", "class A:", "async def f():"),
    "semicolons": lambda size: f"{'a; ' * size}\n",
    # displays
    "integers": display("-1, "),
    "lines of integers": display("\n    1,"),
    "dict": display("1: 'a', ", "{}"),
    "dict of lists": display("'a': [1, 2, 3], ", "{}"),
    "pairs": display("(1, 2), "),
    "names": display("a, "),
    "calls": display("f(1), "),
    "arguments": lambda size: f"f({'1, ' * size})\n",
    "slices": lambda size: f"x = a[{'1:2, ' * size}]\n",
    # other lengths
    "spaces": lambda size: f"x = 1{' ' * size}+ 1\n",
    "blank lines": lines("\n"),
    "continuations": lambda size: f"x = 1 {chr(92)}\n{(chr(92) + chr(10)) * size}\n",
    "digits": around("1"),
    "Python 2": lambda size: f"print 'a'\nx = {'-' * size}1\n",
}
"""What makes a text of a size: each kind is one that a parser recurses or works long on."""

HARMLESS = {
    *("integers", "lines of integers", "dict", "dict of lists", "pairs"),
    *("spaces", "blank lines", "continuations", "digits", "blocks", "functions"),
}
"""The kinds of which any size can be analysed, or which tokenizers refuse."""


@dataclass(frozen=True)
class Ended:
    """A process that has ended: its status, what it printed, CPU seconds and peak megabytes."""

    status: int
    output: str
    seconds: float
    megabytes: float


LAUNCHER = """
import json, os, resource, sys
limits, *command = sys.argv[1:]
sys.stdout = sys.stderr
child = os.fork()
if not child:
    for name, pair in json.loads(limits).items():
        resource.setrlimit(getattr(resource, name), pair)
    os.dup2(1, 2)
    os.execv(command[0], command)
_, status, usage = os.wait4(child, 0)
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
"""Between the tests and the command: a child inherits the peak of the process that forks it."""


def run_limited(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    seconds: int = 20,
    megabytes: int = 2000,
    stack: int | None = None,
) -> Ended:
    """Run a command that may take so much CPU time, address space and stack (bytes)."""
    limits = {
        "RLIMIT_CPU": (seconds, seconds + 1),
        "RLIMIT_AS": (megabytes * MEGABYTE, megabytes * MEGABYTE),
        "RLIMIT_CORE": (0, 0),
    }
    if stack is not None:
        limits["RLIMIT_STACK"] = (stack, stack)
    ran = subprocess.run(
        [sys.executable, "-ISc", LAUNCHER, json.dumps(limits), *command],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    )
    status, used, peak = json.loads(ran.stderr)
    kilobytes = peak if sys.platform != "darwin" else peak / 1024
    return Ended(status, ran.stdout, used, kilobytes / 1024)


def check_limited(*arguments: str, **limits: object) -> Ended:
    """``distlint check`` in one process."""
    command = [sys.executable, "-m", "distlint", "check", "--isolated", "--no-cache", "--jobs=1"]
    return run_limited([*command, "--output-format=concise", *arguments], **limits)  # type: ignore[arg-type]
