"""From the logs of a replay to the functions of a script: statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locators
from distlint.confirm.by_rank import by_rank
from distlint.confirm.collectives import CannotWrite, Collectives
from distlint.confirm.lines import Line, Lines, dedented
from distlint.confirm.names import FAILURE, Names
from distlint.confirm.notes import text_at
from distlint.confirm.observed import ByRank, Observed, Site, Unit, UnitKey, Visit
from distlint.source.paths import printable

T = TypeVar("T")


@dataclass
class Writer:
    """Writes what the ranks have done, and leaves out what no other rank notices."""

    observed: Observed
    locators: Locators
    main: str
    collectives: Collectives
    names: Names = field(default_factory=Names)
    functions: dict[UnitKey, str] = field(default_factory=dict)
    """Their names in the script."""
    written: dict[str, Lines] = field(default_factory=dict)
    """The functions by their names, callees first."""
    tables: dict[str, Line] = field(default_factory=dict)
    """What changes from visit to visit, by the names of the iterators."""
    unit: Unit | None = None

    # ---- functions

    def function(self, unit: Unit, is_manager: bool = False) -> str:
        """The name of a function of the script; it is written when it is first asked for."""
        known = self.functions.get(unit.key)
        if known is not None:
            return known
        if unit.function is None:
            raise CannotWrite("an import leads to the hang")
        name = self.functions[unit.key] = self.names.free(unit.function.label)
        if unit.function.generator and not is_manager:
            raise CannotWrite("a generator leads to the hang")
        around, self.unit = self.unit, unit
        body = self.block(unit.function.body, 1) or [Line(1, "pass")]
        if body[-1].code == "return" and body[-1].depth == 1:
            body = body[:-1] or [Line(1, "pass")]
        note = self.where(unit.function.site)
        self.unit = around
        decorators = [Line(0, "@contextlib.contextmanager")] if is_manager else []
        self.written[name] = [*decorators, Line(0, f"def {name}():", note), *body]
        return name

    def entry(self, unit: Unit, block: ir.Block) -> Lines:
        """What is executed first; calls that follow the one of a hook stand at its site."""
        self.unit = unit
        sites: dict[int, ir.Stmt] = {}
        for statement in block:
            sites.setdefault(statement.site, statement)
        return self.block(tuple(sites.values()), 0)

    # ---- statements

    def block(self, block: ir.Block, depth: int) -> Lines:
        found: Lines = []
        for statement in block:
            found += self.statement(statement, depth)
        return found

    def statement(self, s: ir.Stmt, depth: int) -> Lines:
        write = _STATEMENTS.get(type(s), Writer.plain)
        return write(self, s, depth)

    def plain(self, s: ir.Stmt, depth: int) -> Lines:
        lines = self.reached(s, depth)
        if any(isinstance(node, ir.Yield) for node in ir.nodes_of(s)):
            lines.append(Line(depth, "yield", self.note(s.site)))
        return lines

    def branch(self, s: ir.If, depth: int) -> Lines:
        lines = self.reached(s, depth)
        outcomes = self.observed.branches.get(self.site(s.site))
        if outcomes is None:
            return lines
        body, orelse = self.block(s.body, depth + 1), self.block(s.orelse, depth + 1)
        if not body and not orelse:
            return lines
        same = _same(outcomes)
        if same is not None:
            taken = dedented(body if same else orelse)
            if not taken:
                return lines
            return [*lines, self.remark(depth, s.site, "true" if same else "false"), *taken]
        if not body:
            body, orelse = orelse, []
            outcomes = [[not each for each in visits] for visits in outcomes]
        test = self.choice(s.site, outcomes)
        lines += [Line(depth, f"if {test}:", self.note(s.site)), *body]
        if orelse:
            lines += [Line(depth, "else:"), *orelse]
        return lines

    def loop(self, s: ir.For | ir.While, depth: int) -> Lines:
        body, orelse = self.block(s.body, depth + 1), self.block(s.orelse, depth + 1)
        if isinstance(s, ir.While):
            asked = self.reached(s, depth + 1)
            if asked:
                return self.asking_loop(s, asked, body, orelse, depth)
            lines: Lines = []
        else:
            lines = self.reached(s, depth)
        counts = self.observed.iterations.get(self.site(s.site))
        if counts is None or not (body or orelse):
            return lines
        if _same(counts) == 0:
            return [*lines, *dedented(orelse)]
        number = self.choice(s.site, counts)
        head = Line(depth, f"for _ in range({number}):", self.note(s.site))
        lines += [head, *(body or [Line(depth + 1, "pass")])]
        if orelse:
            lines += [Line(depth, "else:"), *orelse]
        return lines

    def asking_loop(
        self, s: ir.While, asked: Lines, body: Lines, orelse: Lines, depth: int
    ) -> Lines:
        """A loop whose condition communicates: it is tested once more than there are iterations."""
        if orelse:
            raise CannotWrite("a loop with an else asks the other ranks whether to go on")
        site = self.site(s.site)
        none: ByRank[list[int]] = [[0] for _ in range(self.observed.ranks)]
        tests = [[count + 1 for count in mine] for mine in self.observed.iterations.get(site, none)]
        head = f"for _ in range({self.choice(s.site, tests)}):"
        lines = [Line(depth, head, self.note(s.site)), *asked]
        heads = self.observed.heads.get(site)
        if heads is not None:
            ends = [[not more for more in visits] for visits in heads]
            lines.append(Line(depth + 1, f"if {self.choice(s.site, ends, 'True')}:"))
            lines.append(Line(depth + 2, "break"))
        return [*lines, *body]

    def region(self, s: ir.With, depth: int) -> Lines:
        """What a context manager does when a block is entered and left stands around the block."""
        managers = self.observed.managers.get(self.site(s.site), {})
        used = [unit for key, unit in managers.items() if key in self.observed.used]
        if len(used) > 1:
            raise CannotWrite("one block is managed by different functions")
        if used:
            head = f"with {self.function(used[0], is_manager=True)}():"
            body = self.block(s.body, depth + 1) or [Line(depth + 1, "pass")]
            return [*self.reached(s, depth), Line(depth, head, self.note(s.site)), *body]
        body = self.block(s.body, depth)
        return [*self.reached(s, depth), *body, *self.reached(s, depth, is_exit=True)]

    def attempt(self, s: ir.Try, depth: int) -> Lines:
        site = self.site(s.site)
        body = self.block(s.body, depth + 1)
        visits = self.visits_of(self.observed.visits.get(site, []), [site])
        body += self.failure(self.observed.failures.get(site), s.site, visits, depth + 1)
        orelse, final = self.block(s.orelse, depth + 1), self.block(s.final, depth + 1)
        entered = [each for each in s.handlers if self.site(each.site) in self.observed.caught]
        if len(entered) > 1:
            raise CannotWrite("different exceptions are caught on the way")
        if not entered and not final:
            return dedented([*body, *orelse])
        lines = [Line(depth, "try:"), *(body or [Line(depth + 1, "pass")])]
        for handler in entered:
            handled = self.block(handler.body, depth + 1)
            lines.append(Line(depth, f"except {self.caught(handler)}:", self.note(handler.site)))
            lines += handled or [Line(depth + 1, "pass")]
        if entered and orelse:
            lines.append(Line(depth, "else:"))
        lines += orelse
        if final:
            lines += [Line(depth, "finally:"), *final]
        return lines

    def caught(self, handler: ir.Handler) -> str:
        """What a handler catches of that which a script raises."""
        is_for_exit = self.observed.exits and handler.catches("SystemExit")
        return f"({FAILURE}, SystemExit)" if is_for_exit else FAILURE

    def jump(self, s: ir.Stmt, depth: int) -> Lines:
        """A return, break or continue that was come to."""
        lines = self.reached(s, depth)
        if self.site(s.site) in self.observed.jumps:
            lines.append(Line(depth, _JUMPS[type(s)], self.note(s.site)))
        return lines

    def raising(self, s: ir.Raise | ir.Assert, depth: int) -> Lines:
        """An exception of the program, which an assertion raises at some visits only."""
        site = self.site(s.site)
        visits = self.visits_of(self.observed.visits.get(site, []), [site])
        visits = _without(visits, self.observed.failures.get(site))
        raised = self.failure(self.observed.raised.get(site), s.site, visits, depth, s.raised)
        return [*self.reached(s, depth), *raised]

    # ---- what a statement itself does

    def reached(self, s: ir.Stmt, depth: int, is_exit: bool = False) -> Lines:
        """The collectives and calls in a statement itself, in the order of the replay."""
        own = self.unit.key if self.unit is not None else None
        sites = {s.site: None, **{n.site: None for n in ir.nodes_of(s) if hasattr(n, "site")}}
        known = [(self.module, site, is_exit) for site in sites]
        known = [site for site in known if self.observed.owners.get(site) == own]
        known.sort(key=lambda site: self.observed.order[site])
        done = self.observed.tests if isinstance(s, ir.While) else self.observed.visits
        visits = self.visits_of(done.get(self.site(s.site), []), known)
        lines: Lines = []
        for site in known:
            lines += self.at(site, visits, depth)
            visits = _without(visits, self.observed.failures.get(site))
        return lines

    def visits_of(
        self, executed: Sequence[Mapping[Visit, object]], sites: Iterable[Site]
    ) -> ByRank[list[Visit]]:
        """When each rank has executed a statement, or something in it."""
        found: ByRank[dict[Visit, None]] = [{} for _ in range(self.observed.ranks)]
        observed = self.observed
        known: list[Sequence[Mapping[Visit, object]]] = [executed]
        for site in sites:
            known += [table.get(site, []) for table in (observed.events, observed.calls)]
            known.append(observed.failures.get(site, []))
        for each in known:
            for mine, visits in zip(found, each, strict=False):
                mine.update(dict.fromkeys(visits))
        return [list(mine) for mine in found]

    def at(self, site: Site, visits: ByRank[list[Visit]], depth: int) -> Lines:
        """What is done at a site: calls of functions, a collective, the end of the process."""
        failed = self.observed.failures.get(site)
        own = self.failure(failed, site[1], visits, depth)
        visits = _without(visits, failed)
        calls = self.observed.calls.get(site)
        if calls is not None:
            own += self.call(site, calls, visits, depth)
        events = self.observed.events.get(site)
        if events is not None:
            choose = partial(self.choice, site[1])
            call = self.collectives.call(events, choose)
            line = Line(depth, call, self.note(site[1]), site)
            own += self.repeated(site, events, visits, line)
        if site in self.observed.exits:
            status = 0 if self.observed.exits[site] else 1
            own.append(Line(depth, f"sys.exit({status})", self.note(site[1])))
        return own

    def call(
        self,
        site: Site,
        calls: ByRank[dict[Visit, list[Unit]]],
        visits: ByRank[list[Visit]],
        depth: int,
    ) -> Lines:
        units = {
            unit.key: unit
            for mine in calls
            for each in mine.values()
            for unit in each
            if unit.key in self.observed.used
        }
        if len(units) > 1:
            raise CannotWrite("one call leads to different functions")
        if not units:
            return []
        (unit,) = units.values()
        line = Line(depth, f"{self.function(unit)}()", self.note(site[1]))
        return self.repeated(site, calls, visits, line)

    def repeated(
        self,
        site: Site,
        done: Sequence[Mapping[Visit, Sequence[object]]],
        visits: ByRank[list[Visit]],
        line: Line,
    ) -> Lines:
        """A line, as often as it was executed when the statement was."""
        counts = [
            [len(did.get(visit, ())) for visit in mine]
            for did, mine in zip(done, visits, strict=True)
        ]
        if _same(counts) == 1:
            return [line]
        if max(chain.from_iterable(counts)) == 1:
            test = self.choice(site[1], [[count == 1 for count in mine] for mine in counts])
            head = f"if {test}:"
        else:
            head = f"for _ in range({self.choice(site[1], counts)}):"
        return [Line(line.depth, head), replace(line, depth=line.depth + 1)]

    def failure(
        self,
        failed: ByRank[dict[Visit, None]] | None,
        site: int,
        visits: ByRank[list[Visit]],
        depth: int,
        what: str = "something fails here",
    ) -> Lines:
        """An exception before what stands at a site, on the ranks where one was raised."""
        if failed is None:
            return []
        fails = [[visit in did for visit in mine] for did, mine in zip(failed, visits, strict=True)]
        raised = f"raise {FAILURE}({what!r})".replace("'", '"')
        note = self.note(site)
        if _same(fails):
            return [Line(depth, raised, note)]
        return [Line(depth, f"if {self.choice(site, fails)}:", note), Line(depth + 1, raised)]

    # ---- values that differ

    def choice(self, site: int, visits: ByRank[list[Any]], after: str | None = None) -> str:
        """An expression of what each rank had at each visit, and of what it has after the last."""
        if all(len(set(mine)) <= 1 for mine in visits):
            return by_rank([repr(mine[0]) if mine else None for mine in visits])
        lists = [_listed(mine) if mine else None for mine in visits]
        name = self.names.free(f"line_{self.row(site)}")
        table = f"{name} = iter({by_rank(lists)})"
        self.tables[name] = Line(0, table, "one visit after the other")
        if after is None:
            last = next(mine[-1] for mine in visits if mine)
            after = repr(type(last)() if isinstance(last, int) else last)
        return f"next({name}, {after})"

    # ---- places in the source

    @property
    def module(self) -> str:
        assert self.unit is not None
        return self.unit.module.key

    def site(self, site: int) -> Site:
        return (self.module, site, False)

    def row(self, site: int) -> int:
        return self.locators.of(self.module).place(site).span.row

    def where(self, site: int) -> str:
        place = self.locators.of(self.module).place(site)
        row = place.span.row
        return f"line {row}" if self.module == self.main else f"{printable(place.path.name)}:{row}"

    def note(self, site: int) -> str:
        locator = self.locators.of(self.module)
        text = text_at(locator.document, locator.place(site).span)
        return f"{self.where(site)}: {text.removesuffix(':')}"

    def remark(self, depth: int, site: int, outcome: str) -> Line:
        return Line(depth, "", f"{self.note(site)} is {outcome}")


def _listed(values: list[Any]) -> str:
    return (
        f"[{values[0]!r}] * {len(values)}" if len(set(values)) == 1 < len(values) else repr(values)
    )


def _without(
    visits: ByRank[list[Visit]], failed: ByRank[dict[Visit, None]] | None
) -> ByRank[list[Visit]]:
    """The visits on which nothing has failed before."""
    if failed is None:
        return visits
    return [
        [visit for visit in mine if visit not in did]
        for did, mine in zip(failed, visits, strict=True)
    ]


def _same(visits: ByRank[list[T]]) -> T | None:
    """What all ranks had at all visits, if that is one value."""
    values = list(dict.fromkeys(chain.from_iterable(visits)))
    return values[0] if len(values) == 1 else None


_JUMPS = {
    ir.Return: "return",
    ir.Break: "break",
    ir.Continue: "continue",
}

_Write = Callable[[Writer, Any, int], Lines]

_STATEMENTS: dict[type[ir.Stmt], _Write] = {
    ir.If: Writer.branch,
    ir.For: Writer.loop,
    ir.While: Writer.loop,
    ir.With: Writer.region,
    ir.Try: Writer.attempt,
    ir.Define: lambda writer, s, depth: [],
    ir.DefineClass: lambda writer, s, depth: [],
    **dict.fromkeys(_JUMPS, Writer.jump),
    **dict.fromkeys((ir.Raise, ir.Assert), Writer.raising),
}
