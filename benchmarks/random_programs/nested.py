"""Scripts of random nested statements, in three shapes: module, main function, class."""

from __future__ import annotations

import random

from benchmarks.random_programs.scope import Helper, Lines, Scope, Script, block
from benchmarks.random_programs.scripts import (
    PREDICATES,
    assemble,
    group_setup,
    main_scope,
    pick_groups,
)
from benchmarks.random_programs.statements import body

FLAGS = ("stop", "late")


def _helper_parameters(rng: random.Random, shape: str) -> tuple[str, ...]:
    choices: list[tuple[str, ...]] = [(), ("flag",), ("rank",), ("rank", "flag")]
    if shape == "main":
        choices += [("args",), ("args", "flag")]
    return rng.choice(choices)


def _helper_body(scope: Scope, setup: Lines, size: int) -> Lines:
    lines = [*setup, *body(scope, 1, size)]
    if scope.answers:
        lines.append(f"return {scope.test()}")
    return lines


def _free_helper(script: Script, scope: Scope, shape: str) -> Helper:
    """Define a function that sees the globals of a module, or its parameters only."""
    rng = script.rng
    name = script.fresh(rng.choice(("exchange", "evaluate", "persist")))
    helper = Helper(name, _helper_parameters(rng, shape), rng.random() < 0.3)
    setup = ["x = torch.ones(1)"]
    flags: tuple[str, ...] = ("flag",) if "flag" in helper.parameters else ()
    if rng.random() < 0.3:
        setup.append("stop = False")
        flags = (*flags, "stop")
    inner = scope.within(
        flags=flags,
        indexes=(),
        items=(),
        loop=False,
        function=True,
        answers=helper.returns,
        trying=False,
    )
    if shape == "main":
        if "rank" not in helper.parameters:
            setup.append("rank = dist.get_rank()")
        reads = "args.{}" if "args" in helper.parameters else ""
        inner = inner.within(
            rank="rank",
            local_rank='int(os.environ["LOCAL_RANK"])',
            world_size="dist.get_world_size()",
            main=tuple(f"{each}()" for each in PREDICATES if rng.random() < 0.3),
            settings=(reads or "enabled({!r})",),
            lists=reads,
            groups=(),
            helpers=tuple(h for h in inner.helpers if reads or "args" not in h.parameters),
        )
    header = f"def {name}({', '.join(helper.parameters)})"
    script.define(name, block(header, _helper_body(inner, setup, rng.choice((1, 2, 3)))))
    return helper


def _in_functions(script: Script, shape: str, size: int) -> str:
    rng = script.rng
    groups = pick_groups(rng)
    scope, setup = main_scope(script, shape, groups)
    helpers: tuple[Helper, ...] = ()
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        helpers = (*helpers, _free_helper(script, scope.within(helpers=helpers), shape))
    flags = FLAGS[: rng.choice((0, 1, 2))]
    setup += [f"{flag} = False" for flag in flags]
    top = scope.within(helpers=helpers, flags=flags)
    return assemble(script, setup, body(top, 0, size), shape, True, PREDICATES)


def _in_class(script: Script, size: int) -> str:
    """Write a trainer whose methods share their state through attributes."""
    rng = script.rng
    groups = pick_groups(rng)
    made = [
        "self.args = args",
        "self.rank = dist.get_rank()",
        'self.local_rank = int(os.environ["LOCAL_RANK"])',
        "self.world_size = dist.get_world_size()",
        f"self.is_main = {rng.choice(('self.rank == 0', 'not self.rank'))}",
        "self.x = torch.ones(1)",
        *(f"self.{flag} = False" for flag in FLAGS),
        *group_setup(groups, "self."),
    ]
    scope = Scope(
        script=script,
        rank="self.rank",
        local_rank="self.local_rank",
        world_size="self.world_size",
        main=("self.is_main",),
        settings=("self.args.{}",),
        lists="self.args.{}",
        tensor="self.x",
        groups=tuple(type(each)(f"self.{each.name}", each.ranks) for each in groups),
        flags=tuple(f"self.{flag}" for flag in FLAGS),
        function=True,
    )
    methods: list[Lines] = [block("def __init__(self, args)", made)]
    helpers: tuple[Helper, ...] = ()
    for _ in range(rng.choice((0, 1, 2))):
        parameters: tuple[str, ...] = rng.choice(((), ("flag",)))
        method = script.fresh(rng.choice(("step", "evaluate", "persist")))
        helper = Helper(f"self.{method}", parameters, rng.random() < 0.3)
        flags = (*scope.flags, *parameters)
        inner = scope.within(helpers=helpers, flags=flags, answers=helper.returns)
        header = f"def {method}({', '.join(('self', *parameters))})"
        methods.append(block(header, _helper_body(inner, [], rng.choice((1, 2, 3)))))
        helpers = (*helpers, helper)
    run = body(scope.within(helpers=helpers), 0, size)
    methods.append(block("def run(self)", run))
    kept = [methods.pop()]
    for method_lines in reversed(methods[1:]):  # methods call only those before them
        name = method_lines[0].split("(")[0].removeprefix("def ")
        if any(f"self.{name}(" in line for each in kept for line in each):
            kept.append(method_lines)
    kept.append(methods[0])
    lines = [line for method in reversed(kept) for line in (*method, "")][:-1]
    script.define("Trainer", block("class Trainer", lines))
    return assemble(script, [], ["trainer = Trainer(args)", "trainer.run()"], "main", True, ())


def nested_script(rng: random.Random) -> str:
    """Write a script of random nested statements."""
    script = Script(
        rng,
        rank_weight=rng.choice((0.1, 0.2, 0.4, 0.9)),
        local_weight=rng.choice((0.1, 0.4, 0.8)),
    )
    size = rng.choice((3, 4, 5, 6, 8))
    shape = rng.choice(("module", "main", "main", "class"))
    if shape == "class":
        return _in_class(script, size)
    return _in_functions(script, shape, size)
