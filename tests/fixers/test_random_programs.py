"""Repairs of random scripts keep their promises.

`python -m benchmarks.repairs` and `python -m benchmarks.repair_properties` run many more.
"""

from __future__ import annotations

import random

import pytest

from benchmarks import repair_properties
from benchmarks.random_programs.dress import dressed
from benchmarks.repairs import run

SEED = 5
PROGRAMS = 30
LAYOUTS = 60


@pytest.mark.campaign
def test_nothing_is_lost_and_nothing_hangs() -> None:
    results = list(run(range(PROGRAMS), seed=SEED, jobs=1))
    assert [each for each in results if each.wrong or each.verdict.startswith("invalid")] == []
    assert sum(each.verdict == "aligned" for each in results) >= 5


@pytest.mark.campaign
def test_odd_layouts_stay_as_they_are() -> None:
    results = list(repair_properties.run(range(LAYOUTS), seed=SEED, jobs=1))
    assert [each for each in results if each.broken] == []
    assert sum(bool(each.codes) for each in results) >= LAYOUTS // 4


def test_layouts_are_many_and_all_of_them_python() -> None:
    texts = []
    for number in range(60):
        data = repair_properties.script(number, seed=SEED)
        compile(data, "<script>", "exec")
        texts.append(data)
    for sign in (b"\r\n", b"\t", b"; ", b" \\", b"\xef\xbb\xbf", b"latin-1", b"@passed_on", b"\f"):
        assert any(sign in text for text in texts), sign
    assert any(not text.endswith((b"\n", b"\r")) for text in texts)


@pytest.mark.campaign
@pytest.mark.parametrize("harm", ["encoding", "newline", "comment", "twice"])
def test_a_broken_promise_is_told(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(n for n in range(99) if repair_properties.check(n, seed=SEED).codes)
    honest = repair_properties.repaired
    seen = []

    def careless(data: bytes) -> object:
        after, fixed = honest(data)
        seen.append(data)
        spoilt = {
            "encoding": b"\xef\xbb\xbf" + after,
            "newline": after + b"\r",
            "comment": after.replace(b"import", b"import ", 1),
            "twice": after + b"x = 1\n" if len(seen) == 2 else after,
        }[harm]
        return spoilt, fixed

    monkeypatch.setattr(repair_properties, "repaired", careless)
    assert repair_properties.check(number, seed=SEED).broken


def test_a_layout_means_the_same() -> None:
    source = "def f(a, b):\n    if a:\n        c = a + b\n        return c\n    return g(a, b)\n"
    source += "def g(a, b):\n    return a * b\n"
    for seed in range(50):
        found: dict[str, object] = {}
        exec(compile(dressed(source, random.Random(seed)), "<script>", "exec"), found)
        assert found["f"](2, 3) == 5  # type: ignore[operator]
        assert found["f"](0, 3) == 0  # type: ignore[operator]
