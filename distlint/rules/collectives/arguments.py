"""DST111: the ranks issue the same collective with arguments that do not fit together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import expressions_in, expressions_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, Search, item_of, path_of
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.rules.collectives._wording import WHAT
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import Origin
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
    from distlint.source.finding import Place

_BROADCAST = "torch.distributed.broadcast"
_TENSOR = "torch.tensor"
_CASTS = frozenset(
    {"float", "double", "half", "bfloat16", "float16", "float32", "float64", "type", "type_as"}
)
"""What gives a tensor, or the number that it is made of, a dtype by its name."""
_SHARES = frozenset({"all_reduce", "reduce", "broadcast"})
"""Names and kinds of collectives whose tensors have one dtype on all ranks."""
_INTEGRAL = re.compile(
    r"^(len|int|round|bool|sum|any|all|ord|numel|size|shape|argmax|ndim)$|(?:^|_)num(?:_|$)|count|len|size|step"
    r"|epoch|iter|index|idx|flag|seed|port|rank|stop|done|(?:^|_)(?:ids?|n|i|has|is)(?:_|$)",
    re.IGNORECASE,
)
"""Names of functions and variables that stand for whole numbers."""


class MismatchedCollectiveArguments(WitnessRule, SourceRule):
    """All ranks call a collective, but with a different root, reduce operation, dtype or group.

    ```python
    seed = torch.tensor(1234 + rank, device="cuda")
    dist.broadcast(seed, src=rank)
    ```

    ## Use instead

    ```python
    seed = torch.tensor(1234 + rank, device="cuda")
    dist.broadcast(seed, src=0)
    ```

    To send from each rank in turn, loop over the roots on all ranks:
    `for src in range(world_size): dist.broadcast(parts[src], src=src)`.

    ## Why is this bad?

    With two roots in one broadcast, each root waits for the other. A `SUM` that is matched with a
    `MAX`, or 64-bit floats that are received as integers, raise no error: the numbers are just
    wrong.

    ## What is reported

    A call that all ranks reach, with a rank-dependent argument where all ranks must pass the same:
    `src` or `dst`, the reduce operation, the dtype or the shape of the tensor, or the group; also
    where the ranks reach two calls of one kind, in another order. The finding is at the call.

    With severity info: a `broadcast` whose receivers pass an integer tensor (`torch.tensor(0)`),
    while the source creates its tensor from a value that may be a float. The same with a reduction
    or a broadcast of `torch.tensor(score)`, where `score` is an integer but for the rank that has
    computed it.

    ## What is not reported

    - The argument is computed but the same on all ranks (`src=world_size - 1`, a configuration
      value).
    - Each rank names the root of its group, and passes the group as well.
    - Only the payload differs: the tensor itself, or the list that only the root fills.
    - The name of what the source sends suggests an integer: a count, a length, a step.

    ## Fix safety

    None: distlint cannot know which of the values is correct, or whether a loop over all roots is
    intended.

    ## References

    - [PyTorch: broadcast](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast)
    """

    code = "DST111"
    name = "mismatched-collective-arguments"
    rank = 150

    good = (
        Example(
            title="Each rank is the source of one broadcast",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
parts = [torch.full((2,), float(rank)) for _ in range(world)]
for src in range(world):
    dist.broadcast(parts[src], src=src)
print("parts =", torch.cat(parts).tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="The root is the first rank of the group",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
row = rank // 2
x = torch.tensor(float(rank))
dist.broadcast(x, src=2 * row, group=rows[row])
dist.barrier()
print(f"rank {rank} got {x.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only the list differs on the root",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
last = world - 1
chunks = [torch.full((1,), float(i)) for i in range(world)] if rank == last else None
mine = torch.empty(1)
dist.scatter(mine, chunks, src=last)
op = dist.ReduceOp.MAX if world > 4 else dist.ReduceOp.SUM
dist.all_reduce(mine, op=op)
print("mine =", mine.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A float that is received as an integer",
            effect="wrong data",
            code="""\
import numpy
import torch
import torch.distributed as dist


def share_score(found):
    if dist.get_rank() == 0:
        score = found[0]
        dist.broadcast(torch.tensor(score), src=0)  # expect: DST111
    else:
        score = torch.tensor(0)
        dist.broadcast(score, src=0)
        score = score.item()
    return float(score)


dist.init_process_group("gloo")
print("score =", share_score(numpy.array([0.25, 0.5])))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Each rank passes itself as the source",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
seed = torch.tensor(1234 + rank)
dist.broadcast(seed, src=rank)  # expect: DST111
print("seed =", seed.item())
dist.barrier()
""",
        ),
        Example(
            title="MAX on one rank, SUM on the other",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
op = dist.ReduceOp.SUM
if rank == 0:
    op = dist.ReduceOp.MAX
loss = torch.tensor(1.0 + rank)
dist.all_reduce(loss, op=op)  # expect: DST111
print("loss =", loss.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A receiver with another dtype",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    threshold = torch.tensor([0.25], dtype=torch.float64)
else:
    threshold = torch.zeros(1, dtype=torch.int64)
dist.broadcast(threshold, src=0)  # expect: DST111
print("threshold =", threshold.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A gather with two destinations",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def collect(score, writer):
    world = dist.get_world_size()
    parts = None
    if dist.get_rank() == writer:
        parts = [torch.empty(1) for _ in range(world)]
    dist.gather(score, parts, dst=writer)  # expect: DST111
    return parts


dist.init_process_group("gloo")
collect(torch.ones(1), writer=dist.get_rank())
dist.barrier()
""",
        ),
        Example(
            title="A rank-dependent choice between two groups",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
everyone = dist.new_group([0, 1, 2, 3])
pair = dist.new_group([0, 1])
group = pair if rank == 0 else everyone
loss = torch.ones(1)
dist.all_reduce(loss, group=group)  # expect: DST111
print("loss =", loss.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A score that one rank has computed",
            effect="wrong data",
            code="""\
import numpy
import torch
import torch.distributed as dist


def evaluate(scores):
    score = 0
    if dist.get_rank() == 0:
        score = scores.mean()
    score = torch.tensor(score)
    dist.all_reduce(score)  # expect: DST111
    return score.item()


dist.init_process_group("gloo")
print("score =", evaluate(numpy.array([0.25, 0.5])))
dist.destroy_process_group()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.same_event_arguments is not None

    def place(self, witness: Witness) -> Place:
        return witness.first.place if witness.first is not None else witness.cause.place

    def message(self, witness: Witness) -> str:
        what = WHAT.get(witness.same_event_arguments or "", "an argument")
        op = witness.first.op if witness.first is not None else "collective"
        first, second = witness.ranks
        return f"{what} of `{op}` differs between {first} and {second}"

    def help(self, witness: Witness) -> str:
        what = WHAT.get(witness.same_event_arguments or "", "argument")
        return f"Pass the same {what} on all ranks of the group"

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """Receivers of whole numbers, where the source may send a fraction."""
        if _SHARES.isdisjoint(module.tokens):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for site, integer in _mixed(objects):
            yield self.finding(
                message="one rank may pass a float tensor, the others pass an integer",
                severity=Severity.INFO,
                place=locator.place(site.call.site),
                related=(Related("an integer on the other ranks", _place(locators, integer)),),
                effect="the bits of a float are interpreted as an integer, or the sizes differ",
                help="Start from a float, `0.0`, or pass the same `dtype` on all ranks",
            )
        for point in objects.points:
            statement = point.statement
            if isinstance(statement, ir.If) and statement.orelse and asks_rank(statement.test):
                for sent, received in _in_both_arms(objects, statement, point):
                    yield self.finding(
                        message="receivers pass an integer tensor, the source may send a float",
                        severity=Severity.INFO,
                        place=locator.place(sent),
                        related=(Related("received here", locator.place(received)),),
                        effect="the bits of a float are interpreted as an integer",
                        help="Create both tensors with the same dtype",
                    )


def _place(locators: Locators, point: Point) -> Place:
    return locators.of(point.scope.module.key).place(point.statement.site)


def _mixed(objects: Objects) -> Iterator[tuple[CallSite, Point]]:
    """The collectives of a number that one rank has computed and that is an integer elsewhere.

    With the statement that sets it to an integer.
    """
    for site in objects.calls(_SHARES):
        entry = objects.catalogue.lookup(objects.called(site))
        made = entry.collective if entry is not None else None
        if made is None or made.kind not in _SHARES or not made.params:
            continue
        payload = objects.argument(site, made.params[0], 0).value
        for data, maker in _data_of(objects, payload, site.point):
            integers, fractions = [], []
            data, at = _outside(objects, data, maker.point)
            path = _path(data)
            bindings = Search(path, at.scope).before(at.around)[0] if path is not None else ()
            for binding in bindings:
                if not isinstance(binding.node, ir.Expr) or binding.items or binding.rest:
                    continue
                origins = objects.origins(binding.node, binding.point)
                if all(type(origin.constant) is int for origin in origins):
                    integers.append(binding.point)
                elif any(map(asks_rank, tests_around(binding.point))):
                    fractions += [_may_be_fraction(_named(data, each)) for each in origins]
            if integers and fractions and all(fractions):
                yield site, integers[0]
                break


def _path(data: ir.Expr) -> Path | None:
    """The names of a variable, or of an item of a dict."""
    if isinstance(data, ir.Subscript) and isinstance(data.index, ir.Literal):
        owner = path_of(data.value)
        return (*owner, item_of(str(data.index.value))) if owner is not None else None
    return path_of(data)


def _outside(objects: Objects, data: ir.Expr, point: Point) -> tuple[ir.Expr, Point]:
    """What the only call of a function passes for its parameter; others are given back."""
    function, calls = point.scope.function, objects.flow.at(point).calls
    name = data.id if isinstance(data, ir.Name) else ""
    param = (
        next((each for each in function.params if each.name == name), None) if function else None
    )
    if function is None or param is None or Search((name,), point.scope).before(point.around)[0]:
        return data, point
    sites = calls.callers(function)
    given = (
        objects.argument(sites[0], name, calls.position(function, param)).value if sites else None
    )
    return (given, sites[0].point) if given is not None and len(sites) == 1 else (data, point)


def _in_both_arms(objects: Objects, branch: ir.If, point: Point) -> Iterator[tuple[int, int]]:
    """The sites of a broadcast of some value and of one into an integer, in the arms of a test."""
    arms = [
        list(_broadcasts(objects, block, branch, point)) for block in (branch.body, branch.orelse)
    ]
    if any(len(arm) != 1 for arm in arms):
        return
    (one, value), (two, other) = arms[0][0], arms[1][0]
    for sent, payload, received, slot in ((one, value, two, other), (two, other, one, value)):
        if isinstance(slot, ir.Literal) and type(slot.value) is int and _may_be_fraction(payload):
            yield sent, received


def _broadcasts(
    objects: Objects, block: ir.Block, branch: ir.If, point: Point
) -> Iterator[tuple[int, ir.Expr]]:
    """The broadcasts in a block of tensors made with no dtype, and what those are made of."""
    for site in objects.calls({"broadcast"}):
        if site.point.scope is not point.scope or not any(
            here.owner is branch and here.block is block for here in site.point.around
        ):
            continue
        payload = objects.argument(site, "tensor", 0).value
        if objects.is_call_to(site, _BROADCAST):
            for data, maker in _data_of(objects, payload, site.point):
                yield site.call.site, _made_of(objects, data, maker)


def _data_of(
    objects: Objects, payload: ir.Expr | None, point: Point
) -> Iterator[tuple[ir.Expr, CallSite]]:
    """What a tensor is made of that gets its dtype from that, and the call that makes it."""
    for origin in objects.origins(payload, point) if payload is not None else ():
        maker = origin.site
        if maker is not None and objects.is_call_to(maker, _TENSOR):
            data = objects.argument(maker, "data", 0).value
            written = (payload, *expressions_of(maker.point.statement))
            is_cast = any(not _CASTS.isdisjoint(ir.tokens_of(each)) for each in written)
            if data is not None and objects.argument(maker, "dtype").absent and not is_cast:
                yield data, maker


def _made_of(objects: Objects, data: ir.Expr, maker: CallSite) -> ir.Expr:
    """What a variable holds, if that is one thing, with the names that it is called."""
    found = objects.origins(data, maker.point)
    return _named(data, found[0]) if len(found) == 1 else data


def _named(data: ir.Expr, origin: Origin) -> ir.Expr:
    """What a value comes from, with the name that it is called."""
    node = origin.node
    if isinstance(node, ir.Literal):
        return node
    return ir.Display("tuple", (data, node)) if isinstance(node, ir.Expr) else data


def _may_be_fraction(payload: ir.Expr) -> bool:
    if isinstance(payload, ir.Literal):
        return type(payload.value) is float
    for node in expressions_in(payload):
        if isinstance(node, (ir.Compare, ir.Not, ir.BoolOp)):
            return False
        if isinstance(node, ir.Name) and _INTEGRAL.search(node.id):
            return False
        if isinstance(node, ir.Attribute) and _INTEGRAL.search(node.attr):
            return False
    return True
