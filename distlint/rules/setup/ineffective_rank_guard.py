"""DST512: a test of the rank that does not test it."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.across import origins_across
from distlint.analyzer.static.environment import environment_read
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._at_import import asked_at_import
from distlint.rules.setup._before_trainer import asked_before_trainer
from distlint.rules.setup._conditions import always, has_true
from distlint.rules.setup._order import ASKS, INIT
from distlint.rules.setup._too_early import too_early
from distlint.rules.setup._uncalled import uncalled
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"})
_NAMES_RANK = re.compile("rank|RANK|main|WORLD|dist|master")
_IS_RANK = re.compile(r"rank|process_(?:index|id)\b", re.IGNORECASE)
_MANAGERS = ("contextlib.contextmanager", "contextmanager")


class IneffectiveRankGuard(SourceRule):
    """A rank check has the same result on all ranks.

    ```python
    if is_main_process:  # bad: the function is not called, and is always true
        write_report()
    if os.environ["RANK"] == 0:  # bad: compares a string with a number
        write_report()
    ```

    ## Use instead

    ```python
    if is_main_process():
        write_report()
    if int(os.environ["RANK"]) == 0:
        write_report()
    ```

    A context manager cannot skip its body; use an `if` around the body instead. Call
    `init_process_group` before the first rank check, or fall back on the `RANK` that the launcher
    sets.

    ## Why is this bad?

    A function object is always true, so all ranks write the file that one rank was meant to write.
    A string is never equal to a number, so no rank writes it. A context manager that yields on all
    ranks runs its body on all of them. If every process considers itself rank 0, all of them write
    and print, and seeds that depend on the rank are the same on all ranks.

    ## What is reported

    - A function or method that is tested without being called: `if is_main_process:`,
      `if self.is_main:`, `if dist.get_rank == 0:`; also of another file, or in a variable.
    - The string value of an environment variable that is compared with a number:
      `os.environ["RANK"] == 0`, also by way of functions, attributes and other files.
    - A test that asks for a thing and its opposite, so that it has one outcome:
      `not is_initialized() and (is_initialized() and get_rank() == 0)`.
    - A test that is true for all ranks because `==` binds stronger than `or`:
      `rank or 0 == 0`, `rank == 0 or 1`.
    - A context manager that is meant to run its body on one rank, but yields on all of them.
    - Before `init_process_group` in the same function, or before a function that calls it: a call
      of a helper that acts as on rank 0 while there is no process group, or of a function that
      does more than to print if that helper says so; or the use of an object whose rank flag is
      true by default. The helper, and the function that calls it, may use others of the project. A
      warning.
    - A variable in the body of a file that such a helper gives its value, if a function of the file
      makes the process group, and no other file does. A warning.
    - `self.global_rank` or `self.local_rank` that the constructor of a `LightningModule` looks at:
      it is 0 until the module is given to a `Trainer`. A warning.

    ## What is not reported

    - The name is a variable of the file or a property, or is not known to be a function.
    - The variable is converted to a number first, or compared with a string.
    - Code that may initialize the process group runs before the helper.

    ## Fix safety

    Unsafe: adds the missing call. The code after the check ran on all ranks or on none before.

    ## References

    - [torch.distributed.get_rank](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.get_rank)
    - [os.environ](https://docs.python.org/3/library/os.html#os.environ)
    - [contextlib.contextmanager](https://docs.python.org/3/library/contextlib.html#contextlib.contextmanager)
    """

    code = "DST512"
    name = "ineffective-rank-guard"
    severity = Severity.ERROR
    exceptions = (Severity.WARNING,)

    good = (
        Example(
            title="A call, and a comparison of numbers",
            code="""\
import os

import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


dist.init_process_group("gloo")
if is_main_process():
    print("main")
if int(os.environ["RANK"]) == 0 or os.environ["LOCAL_RANK"] == "0":
    print("first")
printer = print if is_main_process() else None
dist.destroy_process_group()
""",
        ),
        Example(
            title="A helper called after `init_process_group`",
            code="""\
import torch.distributed as dist


def get_rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()


def main():
    dist.init_process_group("gloo")
    if get_rank() == 0:
        print("main")
    dist.destroy_process_group()


main()
""",
        ),
        Example(
            title="A variable with the name of a check",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
is_main_process = dist.get_rank() == 0
if is_main_process:
    print("main")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A helper called before `init_process_group`",
            effect="fail",
            code="""\
import torch.distributed as dist


def is_main():
    rank = dist.get_rank() if dist.is_initialized() else 0
    return rank == 0


def main():
    if is_main():  # expect: DST512
        open("report.txt", "x").close()
    dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()


main()
""",
        ),
        Example(
            title="A flag that is set too late",
            effect="fail",
            code="""\
import torch.distributed as dist


class Role:
    is_main_process = True


class Report:
    def begin(self, role):
        if role.is_main_process:
            open("report.txt", "x").close()


def main(reports):
    role = Role()
    for report in reports:
        report.begin(role)  # expect: DST512
    dist.init_process_group("gloo")
    role.is_main_process = dist.get_rank() == 0
    dist.barrier()
    dist.destroy_process_group()


main([Report()])
""",
        ),
        Example(
            title="A function that is not called",
            effect="fail",
            code="""\
import os

import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


dist.init_process_group("gloo")
if is_main_process:  # expect: DST512
    open("report.txt", "x").write("done")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A string compared with a number",
            effect="fail",
            code="""\
import os

import torch.distributed as dist

dist.init_process_group("gloo")
if 0 == os.getenv("RANK"):  # expect: DST512
    open("report.txt", "w").write("done")
dist.barrier()
assert os.path.exists("report.txt"), "nobody has written it"
dist.destroy_process_group()
""",
        ),
        Example(
            title="A context manager that runs its body on all ranks",
            effect="fail",
            code="""\
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def on_rank_zero():
    if dist.get_rank() == 0:
        yield  # expect: DST512
    else:
        yield


dist.init_process_group("gloo")
with on_rank_zero():
    open("report.txt", "x").write("done")
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        known = module.words.union(*(each.words for each in module.imports))
        has_group = INIT.rpartition(".")[2] in known
        if not has_group and not any(map(_NAMES_RANK.search, module.tokens)):
            return
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        for test, point in _tests(objects):
            statement = point.statement
            for node in _parts_of(test):
                for attribute in uncalled(objects, node, point):
                    yield self.finding(
                        message=f"`{attribute}` is not called, so it is always true"
                        if attribute not in ("get_rank", "get_world_size")
                        else f"`{attribute}` is not called, and never equals a number",
                        severity=Severity.ERROR,
                        place=locator.place(statement.site),
                        effect="the check passes on all ranks, or on none",
                        help=f"Call it: `{attribute}()`",
                        fix=partial(
                            _called, statement, attribute, Draft(locator, module, catalogue)
                        )
                        if isinstance(statement, ir.If)
                        else None,
                    )
        for test, point in _tests(objects):
            for outcome in _decided(test):
                said = "always" if outcome else "never"
                yield self.finding(
                    message=f"this check is {said} true: it asks for a thing and its opposite",
                    severity=Severity.ERROR,
                    place=locator.place(point.statement.site),
                    effect="the check passes on all ranks" if outcome else "no rank passes it",
                    help="Ask for one of the two, or put parentheses around what belongs together",
                )
        for either, point in objects.nodes(ir.BoolOp):
            if has_true(either) and any(map(_IS_RANK.search, ir.tokens_of(either))):
                yield self.finding(
                    message="this check is always true: `==` binds stronger than `or`",
                    severity=Severity.ERROR,
                    place=locator.place(point.statement.site),
                    effect="the check passes on all ranks",
                    help="Put parentheses around the `or`",
                )
        for compare, point in objects.nodes(ir.Compare):
            text = _text_compared(objects, compare, point)
            if text:
                yield self.finding(
                    message=f"`{text}` is a string, and is compared with a number",
                    severity=Severity.ERROR,
                    place=locator.place(point.statement.site),
                    effect="the comparison has the same result on all ranks",
                    help=f'Compare `int(os.environ["{text}"])` instead',
                )
        for point in objects.points:
            statement = point.statement
            if isinstance(statement, ir.Define) and statement.function.generator:
                site = _yields_in_both(objects, statement.function, point)
                if site is not None:
                    yield self.finding(
                        message="this context manager runs its body on all ranks",
                        severity=Severity.ERROR,
                        place=locator.place(site),
                        effect="what was meant for one rank runs on all of them",
                        help="Use an `if` around the body instead of the `with`",
                    )
        if not LIGHTNING.isdisjoint(module.imported_roots):
            for at, name in asked_before_trainer(objects):
                yield self.finding(
                    message=f"`self.{name}` is 0 in `__init__`, where no Trainer is attached",
                    severity=Severity.WARNING,
                    place=locator.place(at),
                    effect="every process acts as rank 0",
                    help="Do this in `setup` or `on_fit_start`",
                )
        if has_group:
            for asked, made in asked_at_import(objects):
                yield self.finding(
                    message=f"`{asked.name}` is called when the file is imported",
                    severity=Severity.WARNING,
                    place=locator.place(asked.call.site),
                    related=(Related("initialized here, later", locator.place(made.call.site)),),
                    effect="every process acts as rank 0",
                    help="Call it where it is needed, after `init_process_group`",
                )
            for site, init, what in too_early(objects):
                yield self.finding(
                    message=f"{what} before `init_process_group`",
                    severity=Severity.WARNING,
                    place=locator.place(site),
                    related=(Related("initialized here", locator.place(init)),),
                    effect="every process acts as rank 0",
                    help="Call `init_process_group` first, or fall back on the launcher's `RANK`",
                )


def _tests(objects: Objects) -> Iterator[tuple[ir.Expr, Point]]:
    """The conditions of branches and of conditional expressions."""
    for point in objects.points:
        if isinstance(point.statement, (ir.If, ir.Assert, ir.While)):
            yield point.statement.test, point
    for node, point in objects.nodes(ir.Conditional):
        yield node.test, point
    for point in objects.points:
        if not isinstance(point.statement, (ir.If, ir.Assert, ir.While)):
            for part in nodes_of(point.statement):
                if isinstance(part, ir.Not):
                    yield part.value, point


def _parts_of(test: ir.Expr) -> Iterator[ir.Expr]:
    """What a condition is made of, as far as each part is asked by itself."""
    tests = [test]
    while tests:
        test = tests.pop()
        if isinstance(test, ir.BoolOp):
            tests.extend(test.values)
        elif isinstance(test, ir.Not):
            tests.append(test.value)
        elif isinstance(test, ir.Compare) and len(test.ops) == 1 and test.ops[0] in ("==", "!="):
            tests.append(test.left)
        else:
            yield test


def _decided(test: ir.Expr) -> Iterator[bool]:
    """The one outcome of a rank check that contradicts itself."""
    for part in expressions_in(test):
        outcome = always(part) if isinstance(part, ir.BoolOp) else None
        if outcome is not None and (asks_rank(part) or not ASKS.isdisjoint(ir.tokens_of(part))):
            yield outcome
            return


def _text_compared(objects: Objects, node: ir.Compare, point: Point) -> str:
    """The variable of the environment whose text is compared with a number."""
    if len(node.ops) != 1 or node.ops[0] not in ("==", "!=", "in", "not in"):
        return ""
    for one, other in ((node.left, node.rights[0]), (node.rights[0], node.left)):
        if _is_number(other):
            for where, origin in origins_across(objects, one, point):
                if isinstance(origin.node, ir.Expr) and origin.item is None:
                    name = environment_read(where, origin.node, origin.point)
                    if name in _VARIABLES and not origin.attributes:
                        return name
    return ""


def _is_number(node: ir.Expr) -> bool:
    if isinstance(node, ir.Unary):
        return _is_number(node.value)
    if isinstance(node, ir.Display):
        return bool(node.items) and all(_is_number(item) for item in node.items)
    return isinstance(node, ir.Literal) and type(node.value) is int


def _yields_in_both(objects: Objects, function: ir.Function, point: Point) -> int | None:
    """The first yield of a context manager that yields nothing in both arms of a rank test."""
    if not any(objects.names.dotted(d, point.scope) in _MANAGERS for d in function.decorators):
        return None
    if len(function.body) != 1 or not isinstance(function.body[0], ir.If):
        return None
    branch = function.body[0]
    if not asks_rank(branch.test):
        return None
    arms = [_only_yield(arm) for arm in (branch.body, branch.orelse)]
    return arms[0] if None not in arms else None


def _only_yield(arm: ir.Block) -> int | None:
    if len(arm) == 1 and isinstance(arm[0], ir.Evaluate) and isinstance(arm[0].value, ir.Yield):
        given = arm[0].value
        if not given.delegated and given.value is None:
            return arm[0].site
    return None


def _called(statement: ir.Stmt, name: str, draft: Draft) -> Fix:
    branch = draft.node(statement.site, cst.If)
    found = [each for each in _operands(branch.test) if _last(each) == name]
    if len(found) != 1:
        raise CannotFix("it is tested more than once")
    draft.replace(found[0], f"{draft.text(found[0])}()")
    return draft.fix("unsafe", f"Call `{name}`")


def _operands(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation):
        yield from _operands(test.left)
        yield from _operands(test.right)
    elif isinstance(test, cst.UnaryOperation):
        yield from _operands(test.expression)
    elif isinstance(test, cst.Comparison):
        yield test.left
    else:
        yield test


def _last(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
