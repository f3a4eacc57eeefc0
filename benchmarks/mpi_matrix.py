"""A matrix of small scripts: every pair of collectives in every way to get it right or wrong.

The idea of such a matrix comes from the suites for MPI checkers; the scripts are our own, and
their labels follow from how they are made.

    python -m benchmarks.mpi_matrix
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.verdict import Verdict, verdict

Family = Literal["call matching", "arguments", "point to point"]
Label = Literal["divergent", "aligned"]

OPERATIONS = {
    "all_reduce": "dist.all_reduce(x{op}{group})",
    "broadcast": "dist.broadcast(x, src={root}{group})",
    "barrier": "dist.barrier({only_group})",
    "all_gather": "dist.all_gather(parts, x{group})",
    "all_gather_into_tensor": "dist.all_gather_into_tensor(whole, x{group})",
    "reduce": "dist.reduce(x, dst={root}{op}{group})",
    "reduce_scatter_tensor": "dist.reduce_scatter_tensor(x, whole{op}{group})",
    "gather": "dist.gather(x, parts if rank == {root} else None, dst={root}{group})",
    "scatter": "dist.scatter(x, parts if rank == {root} else None, src={root}{group})",
    "all_to_all_single": "dist.all_to_all_single(whole, whole.clone(){group})",
    "all_gather_object": "dist.all_gather_object(objects, rank{group})",
    "broadcast_object_list": "dist.broadcast_object_list(objects, src={root}{group})",
}
ROOTED = ("broadcast", "reduce", "gather", "scatter", "broadcast_object_list")
REDUCING = ("all_reduce", "reduce", "reduce_scatter_tensor")

RANK_TESTS = ("rank % 2", "rank == 0", "rank != 0", "local_rank == 0", "rank < 2")


@dataclass(frozen=True)
class Case:
    """One script of the matrix."""

    name: str
    family: Family
    category: str
    label: Label
    source: str


def call(operation: str, *, root: str = "0", op: str = "", group: str = "") -> str:
    """Write one collective."""
    return OPERATIONS[operation].format(
        root=root,
        op=f", op={op}" if op else "",
        group=f", group={group}" if group else "",
        only_group=f"group={group}" if group else "",
    )


def script(*body: str) -> str:
    """Write a script around the lines of its main part."""
    text = "\n".join(f"    {line}" for part in body for line in part.splitlines())
    return f"""\
import argparse
import os

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flag", action="store_true")
    parser.add_argument("--num-steps", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    local_rank = int(os.environ["LOCAL_RANK"])
    world_size = dist.get_world_size()
    x = torch.ones(1)
    whole = torch.zeros(world_size)
    parts = [torch.zeros(1) for _ in range(world_size)]
    objects = [None] * world_size
{text}
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""


def _if(test: str, first: str, second: str = "") -> str:
    def arm(lines: str) -> str:
        return "\n".join(f"    {line}" for line in lines.splitlines())

    return f"if {test}:\n{arm(first)}" + (f"\nelse:\n{arm(second)}" if second else "")


def _loop(count: str, inner: str) -> str:
    lines = "\n".join(f"    {line}" for line in inner.splitlines())
    return f"for _ in range({count}):\n{lines}"


def _pairs() -> Iterator[tuple[str, str, str]]:
    """Give every ordered pair of operations, with a rank test that varies from pair to pair."""
    for row, first in enumerate(OPERATIONS):
        for column, second in enumerate(OPERATIONS):
            yield first, second, RANK_TESTS[(row + column) % len(RANK_TESTS)]


def matching_cases() -> Iterator[Case]:
    """Give the scripts about which collectives are called, how often and in which order."""
    for first, second, test in _pairs():
        a, b = call(first), call(second)
        ab, ba = f"{a}\n{b}", f"{b}\n{a}"
        made: list[tuple[str, Label, str]] = [
            ("same order", "aligned", script(_if(test, ab, ab))),
            ("one arm empty", "divergent", script(a, _if(test, b))),
            ("early return", "divergent", script(a, _if(test, "return"), b)),
            ("uniform guard", "aligned", script(_if("args.flag", ab, ba))),
            ("equal loops", "aligned", script(_if(test, _loop("2", ab), _loop("2", ab)))),
            ("one more iteration", "divergent", script(_if(test, _loop("2", ab), _loop("3", ab)))),
            (
                "equal unknown loops",
                "aligned",
                script(_if(test, _loop("args.num_steps", ab), _loop("args.num_steps", ab))),
            ),
            (
                "one more than unknown",
                "divergent",
                script(_if(test, _loop("args.num_steps", ab), _loop("args.num_steps + 1", ab))),
            ),
        ]
        if first != second:
            made.append(("swapped order", "divergent", script(_if(test, ab, ba))))
            made.append(("other operation", "divergent", script(_if(test, a, b))))
        for category, label, source in made:
            yield Case(f"{category}: {first}, {second}", "call matching", category, label, source)


GROUPS = "one = dist.new_group()\ntwo = dist.new_group()"


def argument_cases() -> Iterator[Case]:
    """Give the scripts about what matched collectives must agree on."""

    def case(category: str, name: str, label: Label, *body: str) -> Case:
        return Case(f"{category}: {name}", "arguments", category, label, script(*body))

    for name in OPERATIONS:
        same = call(name, group="one")
        chosen = call(name, group="mine")
        crossed = [f"{call(name, group='one')}\n{call(name, group='two')}"]
        crossed.append(f"{call(name, group='two')}\n{call(name, group='one')}")
        yield case("group", f"{name} same", "aligned", GROUPS, same, call(name, group="two"))
        yield case(
            "group",
            f"{name} by flag",
            "aligned",
            GROUPS,
            "mine = one if args.flag else two",
            chosen,
        )
        yield case(
            "group",
            f"{name} chosen",
            "divergent",
            GROUPS,
            "mine = one if rank == 0 else two",
            chosen,
        )
        yield case(
            "group",
            f"{name} in arms",
            "divergent",
            GROUPS,
            _if("rank % 2", call(name, group="one"), call(name, group="two")),
        )
        yield case(
            "group", f"{name} crossed", "divergent", GROUPS, _if("local_rank == 0", *crossed)
        )
        yield case(
            "group",
            f"{name} or world",
            "divergent",
            GROUPS,
            _if("rank == 0", call(name, group="one"), call(name)),
        )
    for name in ROOTED:
        yield case("root", f"{name} same", "aligned", call(name, root="1"))
        yield case(
            "root",
            f"{name} by flag",
            "aligned",
            "root = 1 if args.flag else 0",
            call(name, root="root"),
        )
        yield case("root", f"{name} rank", "divergent", call(name, root="rank"))
        yield case("root", f"{name} local", "divergent", call(name, root="local_rank"))
        yield case(
            "root",
            f"{name} reassigned",
            "divergent",
            "root = 0",
            _if("rank % 2", "root = 1"),
            call(name, root="root"),
        )
        yield case(
            "root",
            f"{name} in arms",
            "divergent",
            _if("rank == 0", call(name, root="0"), call(name, root="1")),
        )
    for name in REDUCING:
        maximum, total = "dist.ReduceOp.MAX", "dist.ReduceOp.SUM"
        yield case("reduction", f"{name} same", "aligned", call(name, op=maximum))
        yield case(
            "reduction",
            f"{name} default",
            "aligned",
            _if("rank == 0", call(name), call(name, op=total)),
        )
        yield case(
            "reduction",
            f"{name} by flag",
            "aligned",
            f"how = {maximum} if args.flag else {total}",
            call(name, op="how"),
        )
        yield case(
            "reduction",
            f"{name} chosen",
            "divergent",
            f"how = {maximum} if rank == 0 else {total}",
            call(name, op="how"),
        )
        yield case(
            "reduction",
            f"{name} in arms",
            "divergent",
            _if("rank % 2", call(name, op=maximum), call(name, op=total)),
        )
        yield case(
            "reduction",
            f"{name} or default",
            "divergent",
            _if("local_rank == 0", call(name, op=maximum), call(name)),
        )


def point_to_point_cases() -> Iterator[Case]:
    """Give the scripts that mix collectives with sends; distlint does not claim these."""
    for name in OPERATIONS:
        collective = call(name)
        arms = f"dist.send(x, dst=1)\n{collective}", f"dist.recv(x, src=0)\n{collective}"
        crossed = f"{collective}\ndist.recv(x, src=0)"
        rest = f"else:\n    {collective}"
        for label, second in (("aligned", arms[1]), ("divergent", crossed)):
            body = _if("rank == 0", arms[0]) + "\nel" + _if("rank == 1", second) + f"\n{rest}"
            yield Case(
                f"send and {name}: {label}",
                "point to point",
                "order",
                "divergent" if label == "divergent" else "aligned",
                script(body),
            )


def cases() -> list[Case]:
    """Give the whole matrix."""
    return [*matching_cases(), *argument_cases(), *point_to_point_cases()]


def score(found: list[tuple[Case, Verdict]]) -> str:
    """Lay out precision and recall by family and category."""
    rows: dict[str, Counter[str]] = {}
    for case, said in found:
        alarm = said == "divergent"
        cell = ("TP" if alarm else "FN") if case.label == "divergent" else ("FP" if alarm else "TN")
        for row in (case.family, f"  {case.family}: {case.category}"):
            rows.setdefault(row, Counter())[cell] += 1
    lines = [f"{'':42}{'TP':>6}{'TN':>6}{'FP':>6}{'FN':>6}{'precision':>11}{'recall':>8}"]
    for row, count in sorted(rows.items(), key=lambda each: (each[0].strip(), each[0])):
        alarms, bad = count["TP"] + count["FP"], count["TP"] + count["FN"]
        precision = f"{count['TP'] / alarms:.3f}" if alarms else "-"
        recall = f"{count['TP'] / bad:.3f}" if bad else "-"
        cells = "".join(f"{count[name]:6}" for name in ("TP", "TN", "FP", "FN"))
        lines.append(f"{row:42}{cells}{precision:>11}{recall:>8}")
    return "\n".join(lines)


def main() -> int:
    """Print the score; 1 when a case outside point to point is judged wrongly."""
    found = [(case, verdict(case.source)) for case in cases()]
    wrong = [
        (case, said)
        for case, said in found
        if said != case.label and case.family != "point to point"
    ]
    print(score(found))
    for case, said in wrong:
        print(f"wrong: {case.name} is {case.label}, found {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
