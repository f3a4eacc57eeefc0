"""DST107: a method or argument that Accelerate does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.across import origins_across
from distlint.analyzer.static.names import Around, nodes_of
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import asks_for_older, is_source_of

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue, Retired
    from distlint.source.document import Document

_LIBRARY = "accelerate"
_CLASS = "Accelerator"
_ACCELERATOR = f"{_LIBRARY}.{_CLASS}"
_CONSTRUCTOR = "__init__"
_PECULIAR = frozenset({"set_breakpoint", "check_breakpoint", "use_fp16"})
"""Members that an object is known by that is called ``accelerator``, wherever it comes from."""
_FORGIVING = frozenset({"AttributeError", "ImportError", "TypeError", "Exception", "BaseException"})


class UnknownAccelerateApi(SourceRule):
    """A call uses an `Accelerator` method or argument that never existed or was removed.

    ```python
    if loss.item() < target:
        accelerator.set_breakpoint()
    if accelerator.check_breakpoint():
        break
    ```

    ## Use instead

    ```python
    if loss.item() < target:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        break
    ```

    `set_trigger` sets a flag on this process. `check_trigger` returns on all processes whether any
    of them set it; it is a collective, so call it on all processes. Arguments that were removed
    moved to `DataLoaderConfiguration` and `ProjectConfiguration`.

    ## Why is this bad?

    The call raises only when it is reached. With early stopping, that is hours into a run and on
    the one process that wants to stop, while the others wait in their next collective.

    ## What is reported

    - `accelerator.set_breakpoint()` and `accelerator.check_breakpoint()`. They never existed; the
      docstring of `set_trigger` mentions one of them, and so do guides that copied it. The correct
      names are `set_trigger` and `check_trigger`.
    - Names of other libraries that `Accelerator` never had: `all_reduce`, `all_gather`, `barrier`,
      `clip_grad_norm`, `rank`, `world_size` and similar ones.
    - Members removed in Accelerate 1.0, such as `accelerator.use_fp16`.
    - Arguments removed from `Accelerator(...)`: `fp16` in 0.16, `logging_dir` in 0.20, and
      `dispatch_batches`, `even_batches` and `use_seedable_sampler` in 1.0; and arguments that it
      never had, such as `bf16` and `find_unused_parameters`. Also in a dict that is passed as
      `**options`.

    ## What is not reported

    - The object is not an `Accelerator`: debuggers have breakpoints, too. A variable that is called
      `accelerator` is taken for one if the file imports Accelerate or a caller passes one; for
      `set_breakpoint`, `check_breakpoint` and `use_fp16` the name suffices.
    - An item of `**options` that only some paths store.
    - The object belongs to a subclass of `Accelerator` in the project.
    - The code is prepared for several versions: it uses `hasattr`, tests the version, or handles
      the exception.
    - The project's requirements limit Accelerate to a version that has the name.

    ## Fix safety

    Safe: a method or property is renamed to its current name; the old name raises in any case.
    Arguments that moved to another object have to be changed by hand.

    ## References

    - [Accelerate: Accelerator](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    """

    code = "DST107"
    name = "unknown-accelerate-api"
    severity = Severity.ERROR

    good = (
        Example(
            title="The trigger of Accelerate",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(5):
    loss = torch.tensor(1.0 / (1 + step + accelerator.process_index))
    if loss.item() < 0.3:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        break
accelerator.wait_for_everyone()
print("step =", step)
""",
        ),
        Example(
            title="Breakpoints of another object",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator


class Budget:
    def __init__(self, steps):
        self.steps = steps

    def check_breakpoint(self, step):
        return step >= self.steps


accelerator = Accelerator(cpu=True)
budget = Budget(2)
for step in range(5):
    accelerator.wait_for_everyone()
    if budget.check_breakpoint(step):
        break
""",
        ),
        Example(
            title="A subclass that defines the method",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator


class StoppableAccelerator(Accelerator):
    def set_breakpoint(self):
        self.set_trigger()

    def check_breakpoint(self):
        return self.check_trigger()


accelerator = StoppableAccelerator(cpu=True)
if accelerator.process_index == 1:
    accelerator.set_breakpoint()
print("stop =", accelerator.check_breakpoint())
""",
        ),
        Example(
            title="Options in the configuration object",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration

config = DataLoaderConfiguration(even_batches=True, use_seedable_sampler=True)
accelerator = Accelerator(cpu=True, dataloader_config=config)
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="check_breakpoint, a name from a docstring",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(3):
    loss = torch.tensor(1.0 / (1 + step))
    if loss.item() < 0.4:
        accelerator.set_trigger()
    if accelerator.check_breakpoint():  # expect: DST107
        break
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="set_breakpoint on the process that wants to stop",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator


def should_stop(accelerator, loss):
    if loss.item() > 0.5:
        accelerator.set_breakpoint()  # expect: DST107
    return accelerator.check_trigger()


accelerator = Accelerator(cpu=True)
for step in range(3):
    loss = torch.tensor(float(accelerator.process_index))
    if should_stop(accelerator, loss):
        break
""",
        ),
        Example(
            title="An argument that moved to DataLoaderConfiguration",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, even_batches=False)  # expect: DST107
loader = DataLoader(TensorDataset(torch.arange(6.0)), batch_size=2)
loader = accelerator.prepare(loader)
for (batch,) in loader:
    print(f"process {accelerator.process_index}: {batch.tolist()}")
""",
        ),
        Example(
            title="A property that was removed in 1.0",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
dtype = torch.float16 if accelerator.use_fp16 else torch.float32  # expect: DST107
batch = torch.ones(2, dtype=dtype)
print(accelerator.gather(batch))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        gone = {row.name: row for row in catalogue.gone() if row.framework == _LIBRARY}
        words = {name.rpartition(".")[2] for name in gone} & module.tokens
        if not words:
            return
        found = [
            (row, site)
            for row, site in _Uses(objects_of(module, catalogue), gone, words).found()
            if not row.since or not asks_for_older(document.path, _LIBRARY, row.since)
        ]
        if not found or is_source_of(document.path, _LIBRARY):
            return
        locator = locators.of(module.key)
        for row, site in found:
            yield self.finding(
                message=_message(row),
                severity=Severity.ERROR,
                place=locator.place(site),
                effect="an exception is raised on every process that gets here",
                help=_help(row),
                fix=partial(_renamed, row, site, Draft(locator, module, catalogue)),
            )


def _renamed(row: Retired, site: int, draft: Draft) -> Fix:
    if not row.replacement or not row.replacement.isidentifier():
        raise CannotFix("more than a name has changed")
    names.rename(draft, draft.node(site, cst.Attribute), row.replacement)
    return draft.fix("safe", f"Replace with `{row.replacement}`")


class _Uses:
    """Finds where a module uses what is gone."""

    def __init__(self, objects: Objects, gone: dict[str, Retired], words: set[str]) -> None:
        self.objects = objects
        self.names = objects.names
        self.gone = gone
        self.words = words - set(_probed(objects))

    def found(self) -> Iterator[tuple[Retired, int]]:
        for point in self.objects.points if self.words else ():
            used = list(self._in_statement(point))
            if used and not _prepared(point.around):
                yield from used

    def _in_statement(self, point: Point) -> Iterator[tuple[Retired, int]]:
        statement = point.statement
        if isinstance(statement, ir.Import):
            for _, dotted, attr in statement.bindings:
                row = self.gone.get(f"{dotted}.{attr}") if attr in self.words else None
                if row is not None:
                    yield row, statement.site
        tokens = ir.tokens_of(statement)
        if self.words.isdisjoint(tokens) and _CLASS not in tokens:
            return
        for node in nodes_of(statement):
            if isinstance(node, ir.Attribute) and node.attr in self.words:
                yield from self._attribute(node, point)
            elif isinstance(node, ir.Call):
                yield from self._arguments(CallSite(node, point))

    def _attribute(self, node: ir.Attribute, point: Point) -> Iterator[tuple[Retired, int]]:
        cls = self.names.class_of(node.value, point.scope)
        dotted = f"{cls}.{node.attr}" if cls else self.names.dotted(node, point.scope)
        if dotted not in self.gone and not cls:
            dotted = f"{_ACCELERATOR}.{node.attr}"
            if dotted not in self.gone or not self._is_made(node.value, point):
                return
        elif self._is_guessed(node) and not self._is_made(node.value, point):
            return
        if dotted in self.gone:
            yield self.gone[dotted], node.site

    def _is_guessed(self, node: ir.Attribute) -> bool:
        """Is a class known by a variable's name alone, and the member one that others have?"""
        if _LIBRARY in self.names.module.imported_roots:
            return False
        return node.attr not in _PECULIAR

    def _is_made(self, node: ir.Expr, point: Point) -> bool:
        """Does the project make the object by the constructor, in this file or in another?"""
        found = origins_across(self.objects, node, point)
        return bool(found) and all(_is_accelerator(where, origin) for where, origin in found)

    def _arguments(self, site: CallSite) -> Iterator[tuple[Retired, int]]:
        """Arguments that a constructor no longer takes: the first one speaks for all."""
        given = [each.keyword for each in site.call.args if each.keyword in self.words]
        unpacked = any(each.star == "**" for each in site.call.args)
        if not given and not unpacked:
            return
        dotted = self.names.dotted(site.call.func, site.point.scope)
        name = self.names.catalogue.canonical(dotted) if dotted else ""
        for word in given or sorted(self.words):
            row = self.gone.get(f"{name}.{_CONSTRUCTOR}.{word}")
            if row is not None and (given or self._is_unpacked(site, word)):
                yield row, site.call.site
                return

    def _is_unpacked(self, site: CallSite, word: str) -> bool:
        """Does a dict that is passed as ``**options`` have the argument, on every path?"""
        items = self.objects.argument(site, word).items
        return bool(items) and not any(_is_chosen(point, site.point) for _, point in items)


def _is_accelerator(where: Objects, origin: Origin) -> bool:
    if origin.site is not None:
        return where.is_call_to(origin.site, _ACCELERATOR)
    if not isinstance(origin.node, ir.Name) or origin.item is not None or origin.attributes:
        return False
    return where.names.annotated(origin.node.id, origin.point.scope) == _ACCELERATOR


def _is_chosen(made: Point, used: Point) -> bool:
    """Is what stands at a point run on some paths only that lead to another one?"""
    shared = {id(here.owner) for here in used.around}
    return any(
        isinstance(here.owner, (ir.If, ir.Try)) and id(here.owner) not in shared
        for here in made.around
    ) or any(isinstance(node, ir.Conditional) for node in nodes_of(made.statement))


def _message(row: Retired) -> str:
    owner, _, last = row.name.rpartition(".")
    cls, _, method = owner.rpartition(".")
    if method == _CONSTRUCTOR:
        what = f"argument `{last}` of `{cls.rpartition('.')[2]}`"
    else:
        what = f"`{owner.rpartition('.')[2]}.{last}`"
    when = f"was removed in version {row.since}" if row.since else "never existed"
    return f"{what} {when}"


def _help(row: Retired) -> str:
    if not row.replacement:
        return "Remove it"
    return "Use " + " or ".join(f"`{each}`" for each in row.replacement.split(", or "))


def _probed(objects: Objects) -> Iterator[str]:
    """Names that the module asks for before it uses them, or brings itself."""
    for scope in objects.names.scopes:
        if scope.function is not None and scope.function.owner:
            yield scope.function.name
    for point in objects.points:
        if isinstance(point.statement, ir.Assign):
            for target in point.statement.targets:
                if isinstance(target, ir.Attribute):
                    yield target.attr
    for node, _ in objects.nodes(ir.Call):
        if isinstance(node.func, ir.Name) and node.func.id in ("hasattr", "getattr", "setattr"):
            for argument in node.args:
                value = argument.value
                if isinstance(value, ir.Literal) and isinstance(value.value, str):
                    yield value.value


def _prepared(around: tuple[Around, ...]) -> bool:
    """Does the statement stand under a test of the version or under a handler for its error?"""
    for here in around:
        if isinstance(here.owner, ir.If) and any(
            "version" in token.lower() for token in ir.tokens_of(here.owner.test)
        ):
            return True
        if isinstance(here.owner, ir.Try) and here.block is here.owner.body:
            for handler in here.owner.handlers:
                if handler.types is None or not _FORGIVING.isdisjoint(ir.tokens_of(handler.types)):
                    return True
    return False
