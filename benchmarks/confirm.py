"""How many reported hangs have a script that hangs: in folders of scripts, and in random programs.

    python -m benchmarks.confirm [--fixed] [--random COUNT] [--seed SEED] [FOLDER ...]

Prints each finding that has no script or is not confirmed, and for each folder how many there are.
With ``--fixed``, the scripts are those of the fixed sources, which are to finish.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.random_programs.generate import generate
from distlint.confirm.repaired import repaired
from distlint.confirm.reproducers import Reproducer, reproducers
from distlint.confirm.run import confirmed
from distlint.engine import documents
from distlint.engine.check import Session
from distlint.engine.settings import Overrides, Resolver
from distlint.source.document import Document, DocumentError
from distlint.source.notebook import Notebook

NOWHERE = Path("/nowhere")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fixed", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in chosen.folders:
        report(folder.name, in_folder(folder.absolute(), chosen.fixed), chosen.fixed)
    if chosen.random:
        found = at_random(chosen.random, chosen.seed, chosen.fixed)
        report(f"random programs of seed {chosen.seed}", found, chosen.fixed)


def in_folder(folder: Path, is_fixed: bool) -> Iterator[tuple[str, Reproducer]]:
    resolver = Resolver(Overrides(), folder)
    session = Session(resolver)
    for path in sorted(folder.rglob("*.py")):
        try:
            document = documents.read(path)
            if isinstance(document, Notebook):
                continue
            for each in written(document, session, is_fixed):
                yield f"{path.relative_to(folder)}:{each.finding.place.span.row}", each
        except (DocumentError, OSError):
            continue
        finally:
            session.release()


def written(document: Document, session: Session, is_fixed: bool) -> list[Reproducer]:
    resolver = session.resolver
    settings = resolver.of_file(document.path)
    if is_fixed:
        return repaired(document, resolver, settings, unsafe=True)
    return reproducers(document, session, settings)


def at_random(count: int, seed: int, is_fixed: bool) -> Iterator[tuple[str, Reproducer]]:
    for number in range(count):
        resolver = Resolver(Overrides(isolated=True), NOWHERE)
        document = documents.from_bytes(generate(seed, number).source.encode(), NOWHERE / "a.py")
        for each in written(document, Session(resolver), is_fixed):
            yield f"{number}:{each.finding.place.span.row}", each


def report(name: str, found: Iterable[tuple[str, Reproducer]], is_fixed: bool) -> None:
    labels, written = [], []
    for label, each in found:
        labels.append(f"{label} {each.finding.code}")
        written.append(each)
    counts: Counter[str] = Counter()
    for label, outcome in zip(labels, confirmed(written), strict=True):
        counts[outcome.effect or "no script"] += 1
        if outcome.effect != "finishes" if is_fixed else not outcome.is_confirmed:
            print(f"  {label}: {outcome.effect or outcome.reproducer.reason}")
    lines = [each.script.source.count("\n") for each in written if each.script is not None]
    middle = f", {median(lines):.0f} lines in the middle, {max(lines)} at most" if lines else ""
    listed = ", ".join(f"{count} {effect}" for effect, count in counts.most_common())
    print(f"{name}: {listed or 'no findings about hangs'}{middle}")


if __name__ == "__main__":
    main()
