"""What is reported about an example is reported in a whole trainer around it."""

from __future__ import annotations

import random

import pytest

from benchmarks.embedding.embed import Case, Judge, cases, program
from benchmarks.embedding.features import FEATURES
from benchmarks.embedding.fragments import NotEmbeddable, examples
from benchmarks.embedding.plant import Planted, judged
from benchmarks.embedding.skeletons import SKELETONS
from benchmarks.embedding.trainer import possible

EXAMPLES = {each.name: each for each in examples()}
JUDGE = Judge()


def told(name: str, skeleton: str, *features: str, style: str = "function") -> list[str]:
    """What is missed, and what is a false alarm."""
    outcome = JUDGE.judge(Case(EXAMPLES[name], skeleton, features, style))
    return [*(code for code, _ in outcome.missed), *(code for code, _, _ in outcome.alarms)]


@pytest.mark.parametrize("name", SKELETONS)
def test_trainers_are_silent(name: str) -> None:
    skeleton = SKELETONS[name]
    assert not JUDGE.trainer_alone(skeleton, possible(skeleton), '"nccl"')


@pytest.mark.parametrize("rule", ["DST101", "DST104", "DST203", "DST401"])
def test_examples_keep_their_findings(rule: str) -> None:
    assert not told(f"{rule}/bad-1", "functions", "log", "evaluate", "amp")
    assert not told(f"{rule}/good-1", "functions", "log", "evaluate", "amp")


@pytest.mark.parametrize("style", ["function", "deeper", "method", "module", "inline"])
def test_each_way_to_put_an_example_in(style: str) -> None:
    assert not told("DST101/bad-1", "module", "keep_best", style=style)


@pytest.mark.parametrize("skeleton", ["trainer", "spawn"])
def test_one_file_and_several(skeleton: str) -> None:
    assert not told("DST102/bad-1", skeleton, "nan_guard", "signals", "resume")


def planted(kind: str, skeleton: str, *features: str) -> Planted:
    outcome = judged(JUDGE, Planted(kind, skeleton, features))
    assert outcome is not None
    assert not outcome.alarms
    return outcome


@pytest.mark.parametrize(
    ("kind", "skeleton"),
    [
        ("best metric on rank 0", "functions"),
        ("barrier for the log of rank 0", "runner"),
        ("early stop by a class", "functions"),
        ("no set_epoch", "trainer"),
        *(
            pytest.param(kind, skeleton, marks=pytest.mark.campaign)
            for kind, skeleton in [
                ("save on all ranks", "trainer"),
                ("clock per rank", "functions"),
                ("wrapper bypassed", "functions"),
                ("early stop by a counter", "trainer"),
                ("early stop by a counter", "functions"),
                ("two reductions swapped", "module"),
                ("step left out after out-of-memory", "runner"),
                ("skip on NaN", "trainer"),
                ("no sampler at all", "module"),
                ("wrapper bypassed behind torch.compile", "module"),
                ("scheduler stepped by the local loss", "module"),
            ]
        ),
    ],
)
def test_planted_bugs_are_reported(kind: str, skeleton: str) -> None:
    assert planted(kind, skeleton, "log", "evaluate").found


def test_programs_are_the_same_each_time() -> None:
    source = EXAMPLES["DST102/bad-1"]
    fragment = JUDGE.fragment(source)

    def made() -> list[object]:
        ways = cases(source, fragment, random.Random(1), list(SKELETONS), list(FEATURES), 3)
        return [(way, program(way, fragment)) for way in ways]

    assert made() == made()


def test_a_miss_names_the_feature_that_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge()
    seen = judge.seen

    def blind(files: object, *, preview: bool) -> object:
        found = seen(files, preview=preview)  # type: ignore[arg-type]
        if any("EMA" in line.text for lines in files.values() for line in lines):  # type: ignore[attr-defined]
            found.findings.clear()
        return found

    monkeypatch.setattr(judge, "seen", blind)
    features = ("log", "ema")
    outcome = judge.judge(Case(EXAMPLES["DST101/bad-1"], "functions", features))
    assert outcome.missed
    judge.smallest(outcome)
    assert outcome.hiding == ("ema",)


@pytest.mark.campaign
def test_examples_of_hangs_in_random_trainers() -> None:
    missed, alarms, embedded = [], [], 0
    for source in EXAMPLES.values():
        if not source.family.startswith("DST1"):
            continue
        try:
            fragment = JUDGE.fragment(source)
        except NotEmbeddable:
            continue
        rng = random.Random(f"1 {source.name}")
        for case in cases(source, fragment, rng, list(SKELETONS), list(FEATURES), 1):
            outcome = JUDGE.judge(case)
            embedded += len(outcome.expected)
            missed += [f"{code} {case.told()}" for code, _ in outcome.missed]
            alarms += [f"{code} {case.told()}" for code, _, _ in outcome.alarms]
    assert len(missed) <= 0.1 * embedded, missed
    assert len(alarms) <= 1, alarms  # DST120 on a good example with another launcher


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["functions", "accelerate", "deepspeed", "fsdp", "fabric"])
def test_each_feature_alone_is_silent(name: str) -> None:
    skeleton = SKELETONS[name]
    loud = {
        feature: codes
        for feature in possible(skeleton)
        if (codes := JUDGE.trainer_alone(skeleton, [feature], '"nccl"'))
    }
    assert not loud
