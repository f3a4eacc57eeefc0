"""Patterns mean what git makes of them, and hostile ones take no longer than others."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from distlint.engine.discovery import discover
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.wildmatch import MAX_LENGTH, PatternError, decided, lines_of, parsed

PARTS = (
    *(
        "a",
        "b",
        "ab",
        ".",
        "-",
        "*",
        "*",
        "**",
        "***",
        "?",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
    ),
    *(
        "[!]a]",
        "[a\\]]",
        "[[:alpha:]]",
        "[[:x:]]",
        "[[:]",
        "[a",
        "[a-",
        "[--b]",
        "[b-a]",
        "[a-b-c]",
    ),
    *("[/]", "[^/]", "[[:digit:]-a]", "[\\--b]", "[é]", "[a&&b]", "\\a", "\\*", "\\", "\\/", "\\ "),
    *(
        "/",
        "/",
        "/",
        "/**/",
        "**/",
        "/**",
        " ",
        "#",
        "!",
        "é",
        "{",
        "(",
        "~",
        "&&",
        "+",
        "|",
        "^",
        "$",
    ),
)
NAMES = (
    *(
        "a",
        "b",
        "ab",
        "ba",
        "abc",
        "bab",
        "aab",
        "aaab",
        "a b",
        "a ",
        "x y",
        "é",
        "*",
        "[",
        "]",
        "\\",
    ),
    *("c", "#", "!", "0", "-", "a-", "{", "~", "&", "+", "a+", "|", "^", "$"),
)


def ignored(lines: str, path: str) -> bool:
    """As git has it: nothing below an ignored directory can be brought back."""
    reverse = list(lines_of(lines))[::-1]
    parts = path.rstrip("/").split("/")
    for count in range(1, len(parts)):
        if decided(reverse, "/".join(parts[:count]), directory=True):
            return True
    return bool(decided(reverse, "/".join(parts), directory=path.endswith("/")))


@pytest.mark.parametrize(
    ("lines", "yes", "no"),
    [
        ("*.gen.py", ["a.gen.py", "x/y/b.gen.py", ".gen.py"], ["a.gen.pyc", "gen.py"]),
        ("/out", ["out", "out/a.py"], ["x/out"]),
        ("out/", ["out/", "x/out/", "out/a.py"], ["out", "x/out"]),
        ("a/*.py", ["a/x.py"], ["a/b/x.py", "x/a/x.py"]),
        ("**/a/b", ["a/b", "x/a/b", "x/y/a/b"], ["a/x/b", "xa/b"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["x/a/b", "a/xb"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "x/a/b"]),
        ("a/**/**/b/**/c", ["a/b/c", "a/x/b/y/z/c"], ["a/c", "a/b/xc"]),
        ("a*b*c", ["abc", "aXbXc", "aabbcc", "abcc", "abcbc"], ["ab", "abcd", "a/bc"]),
        ("x/a*b/c*d", ["x/ab/cd", "x/aab/ccd"], ["x/a/b/cd", "x/ab/c"]),
        ("!a", [], ["a"]),
        ("*.py\n!keep.py", ["a.py", "x/b.py"], ["keep.py", "x/keep.py"]),
        ("gen\n!gen/keep.py", ["gen/keep.py"], []),
        ("\\#a\n\\!b\n#c", ["#a", "!b"], ["c", "#c"]),
        ("a \nb\\ \n", ["a", "b "], ["a ", "b"]),
        ("a\r\nb\r\n", ["a", "b"], ["a\r"]),
        ("\ufeffa", ["a"], []),
        ("[[:digit:]]?", ["7a", "0_"], ["a7", "7"]),
        ("[a-", [], ["a", "[a-", "-"]),
    ],
)
def test_what_patterns_mean(lines: str, yes: Sequence[str], no: Sequence[str]) -> None:
    assert [path for path in yes if not ignored(lines, path)] == []
    assert [path for path in no if ignored(lines, path)] == []


def compare(folder: Path, seed: int, rounds: int) -> int:
    """Compare with git; the result says how many paths it ignores."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    chance = random.Random(seed)
    count = 0
    for _ in range(rounds):
        lines = "\n".join(_pattern(chance) for _ in range(chance.choice((1, 1, 1, 2, 4))))
        (folder / ".gitignore").write_bytes(f"{lines}\n".encode())
        paths = [
            "/".join(chance.choice(NAMES) for _ in range(chance.randint(1, 4))) for _ in range(25)
        ]
        told = subprocess.run(
            ["git", "-C", folder, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"],
            input="\0".join(paths).encode() + b"\0",
            capture_output=True,
            check=False,
        ).stdout.split(b"\0")
        patterns = [field.decode() for field in told[2::4]]
        wanted = {
            path: bool(pattern) and not pattern.startswith("!")
            for path, pattern in zip(paths, patterns, strict=True)
        }
        assert (lines, {path: ignored(lines, path) for path in paths}) == (lines, wanted)
        count += sum(wanted.values())
    return count


def _pattern(chance: random.Random) -> str:
    before = chance.choice(("", "", "", "", "!", "/"))
    middle = "".join(chance.choice(PARTS) for _ in range(chance.randint(1, 6)))
    return before + middle + chance.choice(("", "", "", "", "/", " "))


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    assert compare(tmp_path, seed=1, rounds=80) > 100


@pytest.mark.campaign
@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
@pytest.mark.parametrize("seed", range(2, 6))
def test_thousands_of_patterns_mean_what_they_mean_to_git(tmp_path: Path, seed: int) -> None:
    assert compare(tmp_path, seed, rounds=1_500) > 2_000


HOSTILE = (
    *(
        "*a",
        "a*",
        "*",
        "*[ab]",
        "*?",
        "[!b]*",
        "**/",
        "**/a/",
        "/**/*a",
        "a/**/",
        "*a/",
        "**/*a*a/",
    ),
    *("a/*a*a/**/", "*a*", "?*a", "x/**a", "a/*a"),
)
PATHS = ("a" * 200, "a" * MAX_LENGTH, "a/" * 2_000 + "a", f"{'a' * 250}/" * 16 + "a")


@pytest.mark.parametrize(
    "times", [30, *(pytest.param(n, marks=pytest.mark.campaign) for n in (1_000, 5_000))]
)
def test_stars_take_time_in_proportion_to_their_number(times: int) -> None:
    start = time.process_time()
    for unit in HOSTILE:
        line = parsed(unit * times + "b")
        assert line is not None
        assert not any(decided([line], path, directory=False) for path in PATHS)
    assert time.process_time() - start < 20  # with backtracking: years


def test_hostile_patterns_in_every_place(tmp_path: Path) -> None:
    stars = "*a" * 30 + "b"
    (tmp_path / f"{'a' * 200}.py").write_text("")
    (tmp_path / ".gitignore").write_text(stars)
    (tmp_path / "distlint.toml").write_text(
        f'exclude = ["{stars}"]\nper-file-ignores = {{"{stars}" = ["ALL"], "!{stars}" = ["ALL"]}}'
    )
    resolver = Resolver(Overrides(extend_exclude=(stars,)), tmp_path)
    start = time.process_time()
    (target,) = discover([tmp_path], resolver).targets
    assert resolver.of_file(target.path).ignored_in(target.path)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:nothing:]]", "[a-"])
def test_patterns_that_match_nothing_are_said_to(pattern: str) -> None:
    with pytest.raises(PatternError):
        parsed(pattern)
