"""How the cost of an analysis grows.

    python -m benchmarks.scaling

Prints CPU milliseconds for more files, for longer straight-line functions and for whole checks of
longer files, in total and for each file, statement or line: the last column stays level as long as
the cost grows linearly.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from distlint.analyzer.project.project import Project
from distlint.analyzer.symbolic.entry_points import EntryPointAnalysis
from distlint.engine.check import Session
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.workers import rare_collection
from distlint.source.document import Document
from tests.large_files import SHAPES

FOLDER = Path("/nowhere")
RUNS = 3

HEAD = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)

"""
GROUP = """\
    if rank == 0:
        print("step", {number})
    dist.all_reduce(x)
    if args.verbose:
        dist.barrier()
"""
STATEMENTS = 5
"""Statements in a group."""


def script(groups: int) -> str:
    """A script whose only function is straight-line code, but for branches that rejoin."""
    body = "".join(GROUP.format(number=number) for number in range(groups))
    return f"{HEAD}\ndef train(args):\n{body}\n\ntrain(parse())\n"


def files(count: int) -> float:
    """CPU seconds for this many files of one project."""
    text = script(4).encode()
    documents = [Document.from_bytes(text, FOLDER / f"part{n}.py") for n in range(count)]
    return fastest(lambda: analyse(documents))


def statements(count: int) -> float:
    """CPU seconds for a function with this many statements, without parsing."""
    document = Document.from_bytes(script(count // STATEMENTS).encode(), FOLDER / "script.py")
    return fastest(lambda: analyse([document], parsing=False))


def lines(shape: str, count: int) -> float:
    """CPU seconds for the check of a file of so many lines, as ``distlint check`` makes it."""
    document = Document.of_text(SHAPES[shape](count), FOLDER / "script.py")
    resolver = Resolver(Overrides(isolated=True), FOLDER)
    gc.collect()
    started = time.process_time()
    with rare_collection():
        Session(resolver).check_source(document, resolver.of_file(document.path))
    return time.process_time() - started


def analyse(documents: Sequence[Document], *, parsing: bool = True) -> float:
    """CPU seconds from the text, or from the parsed module, to what is found."""
    project = Project(FOLDER)
    started = time.process_time()
    for document in documents:
        module = project.add(document)
        catalogue = project.catalogue(module.imported_roots)
        if not parsing:
            started = time.process_time()
        EntryPointAnalysis(project, catalogue, module, project.world).run()
    return time.process_time() - started


def fastest(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(RUNS))


def main() -> None:
    for name, measure, counts in (
        ("files", files, (1, 4, 16, 64, 256)),
        ("statements", statements, (20, 40, 80, 160, 320, 640)),
        *((shape, partial(lines, shape), (2_000, 5_000, 10_000, 20_000)) for shape in SHAPES),
    ):
        print(f"{name:>12} {'CPU ms':>10} {'ms for each':>12}")
        for count in counts:
            cost = measure(count) * 1e3
            print(f"{count:12} {cost:10.1f} {cost / count:12.3f}")
        print()


if __name__ == "__main__":
    main()
