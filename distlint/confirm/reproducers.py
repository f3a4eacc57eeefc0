"""From a checked file to the scripts that show the hangs that were found in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from distlint.analyzer.ir.errors import Unplaced
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.rank_execution import Trace
from distlint.analyzer.symbolic.state import OPAQUE
from distlint.confirm.collectives import CannotWrite
from distlint.confirm.observed import Observed
from distlint.confirm.script import Heading, Script, write
from distlint.confirm.simulation import issued
from distlint.engine import documents
from distlint.engine.check import Session
from distlint.engine.discovery import reason
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Resolver, Settings
from distlint.engine.tracing import unreadable
from distlint.rules.find import witness_rules
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding
from distlint.source.notebook import Notebook
from distlint.source.paths import display

FROM_SOURCE = "it rests on the source alone, not on what the ranks were seen to do"


@dataclass(frozen=True)
class Reproducer:
    """A finding, and its script or the reason why there is none."""

    finding: Finding
    script: Script | None = None
    reason: str = ""


def reproducers_in(
    path: Path, resolver: Resolver, session: Session | None = None
) -> list[Reproducer]:
    """The reproducers for a file; a session keeps what several files import.

    Raises:
        ConfigError: if the file cannot be read or parsed, or is a notebook.
    """
    with script_at(path) as document:
        return reproducers(document, session or Session(resolver), resolver.of_file(path))


@contextmanager
def script_at(path: Path) -> Iterator[Document]:
    """The script at a path, to be analysed.

    Raises:
        ConfigError: if the file cannot be read or parsed, or is a notebook.
    """
    try:
        document = documents.read(path)
        if isinstance(document, Notebook):
            raise ConfigError(f"{display(path)}: reproducers are written for scripts only")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the checked code are for other tools
            yield document
    except DocumentError as error:
        raise unreadable(path, error) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{display(path)}: {reason(error)}") from None


def reproducers(document: Document, session: Session, settings: Settings) -> list[Reproducer]:
    """A reproducer for each reported finding about ranks that diverge."""
    search, reported = session.proven(document, settings)
    about_hangs = {rule.code for rule in witness_rules()}
    found = []
    for finding in reported:
        proof = search.proofs.get((finding.code, finding.place))
        if proof is None and finding.code in about_hangs:
            found.append(Reproducer(finding, reason=FROM_SOURCE))
        elif proof is not None:
            write = partial(_reproducer, finding, proof, search.module, search.locators)
            found.append(search.project.placing(write))
    return found


def _reproducer(finding: Finding, proof: Proof, main: Module, locators: Locators) -> Reproducer:
    try:
        return Reproducer(finding, script_of(finding, proof, main, locators))
    except CannotWrite as why:
        return Reproducer(finding, reason=str(why))
    except Unplaced:
        return Reproducer(finding, reason="a file on the way cannot be read")


def script_of(
    finding: Finding,
    proof: Proof,
    main: Module,
    locators: Locators,
    heading: Heading | None = None,
) -> Script:
    """The script, which issues on each rank what the replay has issued there.

    Raises:
        CannotWrite: if what leads to the hang has no counterpart in a script.
    """
    if any(event.kind == OPAQUE for trace in proof.traces for event in trace.events):
        raise CannotWrite("a call that may communicate is not followed")
    script = write(finding, main, proof, Observed.of(proof.traces), locators, heading)
    for trace in proof.traces:
        if not _agrees(script, trace):
            raise CannotWrite(f"rank {trace.rank} would not do the same in a script")
    return script


def _agrees(script: Script, trace: Trace) -> bool:
    """Does a rank issue the collectives of the replay, in its order?"""
    expected = [_place(trace, number) for number in range(len(trace.events))]
    lines = issued(script, trace.rank, len(expected))
    return [script.sites[line][:2] for line in lines] == expected


def _place(trace: Trace, number: int) -> tuple[str, int]:
    event = trace.events[number]
    return (event.frame.module.key, event.site)
