"""What each group of ranks does, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.entry_points import EntryPointAnalysis
from distlint.analyzer.symbolic.explanation import witness_of
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.rank_execution import Trace as RankTrace
from distlint.analyzer.symbolic.rendezvous import go_on, met
from distlint.analyzer.symbolic.replay import run
from distlint.analyzer.symbolic.starting_states import start_of
from distlint.analyzer.symbolic.state import Event, OverBudget, Stop
from distlint.analyzer.symbolic.witness import Witness
from distlint.source.document import Document
from distlint.source.finding import Step
from distlint.source.incomplete import Reason, ordered
from distlint.source.trace import Trace

MAX_ROWS = 200


def trace(
    document: Document, project: Project, function: str | None, ranks: Sequence[int] | None
) -> list[Trace]:
    """The traces of a module's entry points, or of one function.

    Raises:
        ParseError: if the document is no Python.
        LookupError: if it has no such function, or the cluster no such rank.
    """
    return project.placing(lambda: _traces(document, project, function, ranks))


def _traces(
    document: Document, project: Project, function: str | None, ranks: Sequence[int] | None
) -> list[Trace]:
    module = project.add(document)
    tracer = _Tracer(document, project, module, ranks)
    if function is not None:
        return [tracer.root(_named(module, function))]
    analysis = tracer.analysis()
    analysis.run()
    divergence = {proof.root for proof in analysis.outcome.proofs}
    roots = [root for root in module.functions if root in divergence]
    return [tracer.root(None), *(tracer.root(root) for root in roots)]


def _named(module: Module, name: str) -> ir.Function:
    for function in module.functions:
        if name in {function.name, function.label}:
            return function
    raise LookupError(f"no function {name}")


class _Tracer:
    def __init__(
        self, document: Document, project: Project, module: Module, ranks: Sequence[int] | None
    ) -> None:
        self.document = document
        self.project = project
        self.module = module
        self.ranks = ranks
        self.locators = Locators(project.read, project.sites)
        self.locators.add(document)

    def analysis(self) -> EntryPointAnalysis:
        catalogue = self.project.catalogue_of(self.module)
        return EntryPointAnalysis(self.project, catalogue, self.module, self.project.world)

    def root(self, function: ir.Function | None) -> Trace:
        analysis = self.analysis()
        analysis.analyse(function)
        incomplete = ordered(analysis.outcome.incomplete.get(function, ()))
        best: tuple[tuple[int, ...], Proof, Witness] | None = None
        # of equally plain ones, that with the shortest way
        for proof in sorted(analysis.outcome.proofs, key=lambda proof: proof.divergence.serial):
            witness = witness_of(proof, self.locators, self.module.key)
            if witness is not None and (best is None or witness.weight < best[0]):
                best = (witness.weight, proof, witness)
        if best is not None:
            return self.drawn(function, best[1].traces, best[2], incomplete)
        return self.drawn(function, self.usual_path(analysis, function), None, incomplete)

    def usual_path(
        self, analysis: EntryPointAnalysis, function: ir.Function | None
    ) -> tuple[RankTrace, ...]:
        """A path on which much happens: conditions one way or the other, loops run once."""
        assert analysis.context is not None
        context = analysis.context
        best: tuple[RankTrace, ...] = ()
        for default in (True, False):
            context.begin_root()
            start = start_of(context, function)
            none = Divergence((0, 1), (None, None), {}, 0)
            try:
                found = tuple(
                    run(context, start, rank, none, "B", default, once=True)
                    for rank in range(context.cluster.size)
                )
            except OverBudget:
                continue
            if not best or sum(len(t.events) for t in found) > sum(len(t.events) for t in best):
                best = found
        return best

    def drawn(
        self,
        function: ir.Function | None,
        traces: Sequence[RankTrace],
        witness: Witness | None,
        incomplete: tuple[Reason, ...],
    ) -> Trace:
        lanes = self.lanes(traces)
        rows, divergence = self.rows(traces, lanes)
        return Trace(
            path=self.document.path,
            function=function.label if function is not None else None,
            lanes=tuple(_lane_name(lane) for lane in lanes),
            rows=tuple(rows),
            divergence=divergence,
            decisions=witness.decisions if witness is not None else (),
            effect=witness.effect if witness is not None else "",
            incomplete=incomplete,
        )

    def lanes(self, traces: Sequence[RankTrace]) -> list[list[int]]:
        """Ranks that do the same, or the ranks that were asked for."""
        if self.ranks is not None:
            for rank in self.ranks:
                if not 0 <= rank < len(traces):
                    raise LookupError(
                        f"no rank {rank} on a simulated cluster of {len(traces)} ranks"
                    )
            return [[rank] for rank in self.ranks]
        found: dict[tuple[object, ...], list[int]] = {}
        for trace in traces:
            key = (*((event.site, event.match) for event in trace.events), trace.ended)
            found.setdefault(key, []).append(trace.rank)
        return list(found.values())

    def rows(
        self, traces: Sequence[RankTrace], lanes: Sequence[Sequence[int]]
    ) -> tuple[list[tuple[Step | None, ...]], int | None]:
        """Let the ranks meet: a row for each collective, and where they get stuck, if they do."""
        coming = [list(reversed(trace.events)) for trace in traces]
        queues: list[list[Event]] = [[] for _ in traces]
        rows: list[tuple[Step | None, ...]] = []

        def issuing(rank: int) -> bool:
            if coming[rank]:
                queues[rank].append(coming[rank].pop())
                return True
            return False

        issues = [partial(issuing, rank) for rank in range(len(traces))]
        while len(rows) < MAX_ROWS:
            for queue, issue in zip(queues, issues, strict=True):
                if not queue:
                    issue()
            heads = met(queues)
            if heads is not None:
                rows.append(tuple(self.step(heads.get(lane[0])) for lane in lanes))
                for rank, event in heads.items():
                    queues[rank].remove(event)
            elif not go_on(queues, issues):
                break
        if not any(queues):
            return rows, None
        rows.append(tuple(self.waiting(queues[lane[0]], traces[lane[0]]) for lane in lanes))
        return rows, len(rows) - 1

    def waiting(self, queue: Sequence[Event], trace: RankTrace) -> Step:
        if queue:
            return self.step(queue[0]) or Step("?")
        return Step("ends" if trace.ended is Stop.END else "fails")

    def step(self, event: Event | None) -> Step | None:
        if event is None:
            return None
        locator = self.locators.of(event.module)
        text = locator.text(event.site)
        return Step(text if len(text) <= 60 else text[:57] + "...", locator.place(event.site))


def _lane_name(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"ranks {ranks[0]}-{ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks))}"
