"""Plant a bug of each kind in whole trainers, and its correct twin."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.embedding.embed import MOST_FEATURES, Judge
from benchmarks.embedding.kinds import KINDS, Kind
from benchmarks.embedding.lines import Line, lines_of
from benchmarks.embedding.skeletons import SKELETONS, Skeleton
from benchmarks.embedding.trainer import Files, Insert, closed, possible, spelled, trainer
from distlint.source.finding import Severity


@dataclass(frozen=True)
class Planted:
    """A trainer with a bug, and what came of it."""

    kind: str
    skeleton: str
    features: tuple[str, ...]
    found: tuple[str, ...] = ()
    """The codes that report the bug, at warning or error."""
    as_information: bool = False
    alarms: tuple[str, ...] = ()
    """Errors and warnings about the twin."""
    hiding: tuple[str, ...] | None = None


def planted(kind: Kind, skeleton: Skeleton, features: Sequence[str], *, bad: bool) -> Files | None:
    """The trainer with the bug or with its twin; None where there is no place for it."""
    texts = kind.bad if bad else kind.good
    slots: dict[str, list[Line]] = {}
    for slot, text in texts.items():
        made = lines_of(text) if slot == "imports" else spelled(_dedented(text), skeleton)
        slots[slot] = [*made, Line(""), Line("")] if slot == "defs" else made
    files = trainer(skeleton, features, Insert(slots))
    if bad:
        for old, new in kind.change:
            before, after = (_text(spelled(each, skeleton)) for each in (old, new))
            files, changed = _changed(files, before, after)
            if not changed:
                return None
    for path, lines in files.items():
        compile(_text(lines), path, "exec", dont_inherit=True)
    return files


def _dedented(text: str) -> str:
    return _text(lines_of(text))


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def _changed(files: Files, old: str, new: str) -> tuple[Files, bool]:
    changed = False
    found: Files = {}
    for path, lines in files.items():
        found[path] = []
        for line in lines:
            if old in line.text:
                changed = True
                margin = line.text[: len(line.text) - len(line.text.lstrip())]
                text = line.text.replace(old, new.replace("\n", f"\n{margin}"))
                found[path] += [Line(each) for each in text.splitlines()]
            else:
                found[path].append(line)
    return found, changed


def judged(judge: Judge, case: Planted) -> Planted | None:
    """What is reported about the bug and about its twin."""
    kind, skeleton = KINDS[case.kind], SKELETONS[case.skeleton]
    bad = planted(kind, skeleton, case.features, bad=True)
    good = planted(kind, skeleton, case.features, bad=False)
    if bad is None or good is None:
        return None
    seen = judge.seen(bad, preview=False).findings
    of_twin = judge.seen(good, preview=False).findings
    matter = Severity.WARNING.weight
    told = {code: s for (code, _), s in seen.items() if code.startswith(kind.codes)}
    found = tuple(sorted(code for code, s in told.items() if s.weight >= matter))
    alarms = {code for (code, _), s in of_twin.items() if s.weight >= matter}
    return replace(
        case,
        found=found,
        as_information=bool(told) and not found,
        alarms=tuple(sorted(alarms)),
    )


def run(options: argparse.Namespace) -> Iterator[Planted]:
    """Plant bugs of each kind and judge them."""
    with ProcessPoolExecutor(options.jobs) as pool:
        for cases in pool.map(partial(of_kind, options=options), KINDS):
            yield from cases


def of_kind(name: str, options: argparse.Namespace) -> list[Planted]:
    kind, judge = KINDS[name], Judge()
    rng = random.Random(f"{options.seed} {name}")
    fitting = [
        name
        for name in options.skeletons
        if SKELETONS[name].kind in kind.kinds
        and name not in kind.without
        and planted(kind, SKELETONS[name], (), bad=True) is not None
    ]
    cases = []
    for _ in range(options.count if fitting else 0):
        skeleton = rng.choice(fitting)
        able = [each for each in possible(SKELETONS[skeleton]) if each in options.features]
        chosen = rng.sample(able, min(len(able), rng.randint(1, 2 * MOST_FEATURES)))
        case = judged(judge, Planted(name, skeleton, closed(chosen)))
        if case is not None and not case.found and not options.quick:
            case = replace(case, hiding=_smallest(judge, case))
        if case is not None:
            cases.append(case)
    return cases


def _smallest(judge: Judge, case: Planted) -> tuple[str, ...]:
    left = case.features
    for feature in case.features:
        fewer = tuple(each for each in left if each != feature)
        again = judged(judge, replace(case, features=closed(fewer)))
        if again is not None and not again.found:
            left = fewer
    return left


def report(options: argparse.Namespace) -> int:
    """Print the figure by kind; 1 after a false alarm."""
    cases = []
    for case in run(options):
        cases.append(case)
        if not case.found:
            hiding = ", ".join(case.features if case.hiding is None else case.hiding)
            told = " (as information)" if case.as_information else ""
            print(f"missed{told} {case.kind}: {case.skeleton}; with {hiding or 'no feature'}")
        if case.alarms:
            what = f"{', '.join(case.alarms)} in the twin of {case.kind}"
            print(f"FALSE ALARM {what}: {case.skeleton}; with {', '.join(case.features)}")
        if options.out is not None:
            _write(case, options.out / f"{len(cases):04}-{case.kind.replace(' ', '-')}")
    print(table(cases))
    if options.json is not None:
        rows = "".join(json.dumps(asdict(each)) + "\n" for each in cases)
        options.json.write_text(rows, encoding="utf-8")
    return 1 if any(each.alarms for each in cases) else 0


def _write(case: Planted, folder: Path) -> None:
    for name, bad in (("bug", True), ("twin", False)):
        files = planted(KINDS[case.kind], SKELETONS[case.skeleton], case.features, bad=bad)
        (folder / name).mkdir(parents=True, exist_ok=True)
        for path, lines in (files or {}).items():
            (folder / name / path).write_text(_text(lines) + "\n", encoding="utf-8")


def table(cases: Sequence[Planted]) -> str:
    lines = [
        "| kind of bug | planted | reported | as information | alarms on twins |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    groups = [(name, [each for each in cases if each.kind == name]) for name in KINDS]
    for name, own in [*groups, ("**all**", list(cases))]:
        if own:
            found = sum(bool(each.found) for each in own)
            little = sum(each.as_information for each in own)
            alarms = sum(bool(each.alarms) for each in own)
            lines.append(f"| {name} | {len(own)} | {found} | {little} | {alarms} |")
    return "\n".join(lines)
