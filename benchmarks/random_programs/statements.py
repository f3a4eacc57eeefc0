"""Random nested statements around collectives."""

from __future__ import annotations

from benchmarks.random_programs.scope import GroupName, Lines, Scope, block, indent

MAX_DEPTH = 3

WORLD_COLLECTIVES = (
    "dist.barrier()",
    "dist.barrier()",
    "dist.barrier()",
    "dist.all_reduce({t})",
    "dist.all_reduce({t})",
    "dist.all_reduce({t}, op=dist.ReduceOp.MAX)",
    "dist.broadcast({t}, src=0)",
    "dist.broadcast({t}, 0)",
    "dist.reduce({t}, dst=0)",
    "dist.all_gather([torch.zeros(1) for _ in range({w})], {t})",
    "dist.all_gather_object([None] * {w}, {r})",
    'dist.broadcast_object_list(["state"], src=0)',
)

GROUP_COLLECTIVES = (
    "dist.barrier(group={g})",
    "dist.all_reduce({t}, group={g})",
    "dist.all_reduce({t}, op=dist.ReduceOp.MAX, group={g})",
    "dist.broadcast({t}, src={first}, group={g})",
)

NOISE = (
    'print("step", {r})',
    "{t} = {t} * 2",
    'logger.info("rank %d", {r})',
    'torch.save({t}, "model.pt")',
    "note({r})",
)


def world_collective(scope: Scope) -> str:
    """Write a collective on all ranks."""
    pattern = scope.rng.choice(WORLD_COLLECTIVES)
    return scope.fill(pattern.replace("{t}", scope.tensor))


def group_collective(scope: Scope, group: GroupName) -> str:
    """Write a collective on the ranks of a group."""
    pattern = scope.rng.choice(GROUP_COLLECTIVES)
    return pattern.format(t=scope.tensor, g=group.name, first=group.ranks[0])


def noise(scope: Scope) -> str:
    """Write a statement that no collective depends on."""
    choices = [each for each in NOISE if not (scope.trying and each.startswith("note"))]
    return scope.fill(scope.rng.choice(choices).replace("{t}", scope.tensor))


def grouped(scope: Scope) -> Lines:
    """Use a sub-group, most often under a test of membership."""
    group = scope.rng.choice(scope.groups)
    lines = [group_collective(scope, group) for _ in range(scope.rng.choice((1, 1, 2)))]
    if scope.chance(0.55):
        return block(f"if {scope.member_test(group)}", lines)
    if scope.chance(0.3):
        return block(f"if {scope.test()}", lines)
    return lines


def branch(scope: Scope, depth: int) -> Lines:
    """Write an ``if``, with the relations between its arms that real code has."""
    condition = scope.test()
    first = body(scope, depth + 1)
    shape = scope.rng.random()
    lines = block(f"if {condition}", first)
    if shape < 0.45:
        return lines
    if shape < 0.65:  # the same in both arms
        return [*lines, *block("else", first)]
    if shape < 0.75:
        return [
            *lines,
            *block(f"elif {scope.test()}", body(scope, depth + 1)),
            *block("else", body(scope, depth + 1)),
        ]
    if shape < 0.85:  # the complement, apart
        return [*lines, noise(scope), *block(f"if not ({condition})", first)]
    return [*lines, *block("else", body(scope, depth + 1))]


def counted_loop(scope: Scope, depth: int) -> Lines:
    """Write a ``for`` loop of at most two iterations on any rank."""
    item = scope.script.fresh("step")
    inner = scope.within(loop=True)
    kind = scope.rng.random() if scope.lists else 0.6
    if kind < 0.3:
        iterable = scope.lists.format(scope.rng.choice(("items_train", "items_eval")))
        inner = inner.within(items=(*scope.items, item))
    elif kind < 0.5:
        iterable = f"range({scope.lists.format(scope.rng.choice(('num_epochs', 'num_rounds')))})"
        inner = inner.within(indexes=(*scope.indexes, item))
    elif kind < 0.7:
        iterable = f"range({scope.rng.choice((1, 2))})"
        inner = inner.within(indexes=(*scope.indexes, item))
    elif kind < 0.8:
        iterable = f"enumerate({scope.lists.format('items_train')})"
        inner = inner.within(indexes=(*scope.indexes, item), items=(*scope.items, f"{item}_item"))
        item = f"{item}, {item}_item"
    elif kind < 0.9 and scope.script.rank_weight > 0.5:
        counts = ("{r} % 2", "1 + {r} % 2", "{l}", "2 - {l}", "2 if {r} == 0 else 1")
        iterable = f"range({scope.fill(scope.rng.choice(counts))})"
    elif kind < 0.94 and scope.script.rank_weight > 0.5:
        iterable = f"{scope.lists.format('files')}[{scope.rank} :: {scope.world_size}]"
    else:
        iterable = "(1, 2)"
    lines = block(f"for {item} in {iterable}", body(inner, depth + 1))
    if scope.chance(0.1):
        lines += block("else", body(scope, depth + 1))
    return lines


def conditional_loop(scope: Scope, depth: int) -> Lines:
    """Write a ``while`` loop."""
    inner = scope.within(loop=True)
    shape = scope.rng.random()
    if shape < 0.35:
        count = scope.script.fresh("count")
        within = inner.within(indexes=(*scope.indexes, count))
        return [
            f"{count} = 0",
            *block(f"while {count} < 2", [f"{count} += 1", *body(within, depth + 1)]),
        ]
    if shape < 0.7:
        count = scope.script.fresh("count")
        stop = f"should_stop({count})"
        if scope.trying or scope.chance(0.3):
            stop = scope.local_test()
        return [
            f"{count} = 0",
            *block(
                "while True",
                [*body(inner, depth + 1), f"{count} += 1", *block(f"if {stop}", ["break"])],
            ),
        ]
    done = scope.script.fresh("done")
    agree = sanitizer(scope, done) if scope.chance(0.7) else [f"{done} = {scope.local_test()}"]
    return [
        f"{done} = False",
        *block(f"while not {done}", [*body(inner, depth + 1), *agree]),
    ]


def sanitizer(scope: Scope, flag: str) -> Lines:
    """Make all ranks agree on a local decision.

    The decision is a fresh one, so that the outcome can go both ways.
    """
    local = scope.local_test()
    if scope.chance(0.25):
        local = f"{scope.on_main()} and {local}"
    kind = scope.rng.random()
    ballot = scope.script.fresh("ballot")
    if kind < 0.35:
        return [
            f"{ballot} = torch.tensor([int({local})])",
            f"dist.all_reduce({ballot}, op=dist.ReduceOp.MAX)",
            f"{flag} = bool({ballot}.item())",
        ]
    if kind < 0.5:
        return [
            f"{flag} = {local}",
            f"{ballot} = torch.tensor([int({flag})])",
            f"dist.all_reduce({ballot})",
            f"{flag} = {ballot}.item() > 0",
        ]
    if kind < 0.65:
        return [
            f"{ballot} = torch.tensor([1 if {local} else 0])",
            f"dist.broadcast({ballot}, src=0)",
            f"{flag} = {ballot}.item() == 1",
        ]
    if kind < 0.85:
        return [
            f"{ballot} = [{local}]",
            f"dist.broadcast_object_list({ballot}, src=0)",
            f"{flag} = {ballot}[0]",
        ]
    return [
        f"{ballot} = [None] * {scope.world_size}",
        f"dist.all_gather_object({ballot}, {local})",
        f"{flag} = any({ballot})",
    ]


def leave(scope: Scope) -> Lines:
    """Write a conditional exit of any kind."""
    options = ["raise RuntimeError('unexpected')", "sys.exit(1)", "sys.exit(0)", "assert"]
    if scope.loop:
        options += ["break", "break", "break", "continue", "continue"]
    if scope.function:
        options += ["return", "return", "return"]
    exit_ = scope.rng.choice(options)
    condition = scope.test()
    if exit_ == "assert":
        return [f"assert {condition}"]
    if exit_ == "return" and scope.answers:
        exit_ = f"return {scope.rng.choice(('True', 'False'))}"
    return block(f"if {condition}", [exit_])


def assign_flag(scope: Scope) -> Lines:
    """Change a flag that later conditions may read."""
    flag = scope.rng.choice(scope.flags)
    kind = scope.rng.random()
    if kind < 0.35:
        return [f"{flag} = {scope.test()}"]
    if kind < 0.55:
        return [f"{flag} = {scope.rng.choice(('True', 'False'))}"]
    if kind < 0.7:
        return sanitizer(scope, flag)
    if kind < 0.8:
        return [f"{flag} = {flag} or {scope.test(1)}"]
    value = scope.rng.choice(("True", "False", scope.test(1)))
    return block(f"if {scope.test()}", [f"{flag} = {value}"])


def attempt(scope: Scope, depth: int) -> Lines:
    """Write a ``try`` around a call that may fail on some ranks only."""
    inner = scope.within(trying=True)
    load = scope.rng.choice(("load_shard", "read_batch"))
    risky = [f"{load}({scope.rank})"]
    if scope.chance(0.3):
        failing = scope.rng.choice(("OSError('gone')", "ValueError('bad')"))
        risky += block(f"if {inner.test()}", [f"raise {failing}"])
    around = body(inner, depth + 1) if scope.chance(0.5) else [noise(inner)]
    tried = [*risky, *around] if scope.chance(0.6) else [*around, *risky]
    shape = scope.rng.random()
    if shape < 0.15:
        return [*block("try", tried), *block("finally", body(inner, depth + 1))]
    errors = scope.rng.choice(("OSError", "ValueError", "(OSError, ValueError)", "Exception"))
    handler = scope.rng.random()
    if handler < 0.25:
        caught = ["raise"]
    elif handler < 0.5:
        caught = ["pass"]
    elif handler < 0.7 and scope.flags:
        caught = [f"{scope.rng.choice(scope.flags)} = True"]
    elif handler < 0.85:
        caught = body(inner, depth + 1)
    else:
        caught = [scope.rng.choice(("return", "pass") if _plain_return(scope) else ("pass",))]
    lines = [*block("try", tried), *block(f"except {errors}", caught)]
    if shape < 0.3:
        lines += block("else", body(inner, depth + 1))
    if shape > 0.9:
        lines += block("finally", [noise(inner)])
    return lines


def _plain_return(scope: Scope) -> bool:
    return scope.function and not scope.answers


def managed(scope: Scope, depth: int) -> Lines:
    """Write a ``with`` block over a context manager of the script."""
    script = scope.script
    name = script.fresh("region")
    parameter, argument = "", ""
    outside = scope.within(
        rank="dist.get_rank()",
        local_rank='int(os.environ["LOCAL_RANK"])',
        world_size="dist.get_world_size()",
        main=("dist.get_rank() == 0",),
        flags=(),
        helpers=(),
        indexes=(),
        items=(),
        groups=(),
        loop=False,
        function=False,
        settings=("enabled({!r})",),
        lists="",
        tensor="torch.ones(1)",
    )
    if scope.chance(0.5):
        parameter, argument = "first", scope.on_main()
        before = block("if not first", ["dist.barrier()"])
        after = block("if first", ["dist.barrier()"])
    elif scope.chance(0.5):
        test = outside.rank_test()
        before = block(f"if {test}", ["dist.barrier()"])
        after = block(f"if not ({test})", ["dist.barrier()"])
    else:
        before = [world_collective(outside)]
        after = block(f"if {outside.test(1)}", [world_collective(outside)])
    if scope.chance(0.3):
        inner = [*before, *block("try", ["yield"]), *block("finally", after)]
    else:
        inner = [*before, "yield", *after]
    script.define(name, ["@contextlib.contextmanager", *block(f"def {name}({parameter})", inner)])
    within = [noise(scope)] if scope.chance(0.6) else body(scope, depth + 1)
    return block(f"with {name}({argument})", within)


def in_expression(scope: Scope) -> Lines:
    """Put a collective into an expression that may not evaluate it."""
    call = world_collective(scope)
    plain = [each for each in scope.helpers if not each.returns]
    if plain and scope.chance(0.4):
        call = scope.call(scope.rng.choice(plain))
    condition = scope.test(1)
    kind = scope.rng.random()
    if kind < 0.4:
        return [f"{condition} and {call}"]
    if kind < 0.6:
        return [f"({condition}) or {call}"]
    if kind < 0.85:
        return [f"{call} if {condition} else None"]
    return [f"[{call} for _ in {scope.lists.format('items_eval') or 'range(2)'}]"]


def statement(scope: Scope, depth: int) -> Lines:
    """Write one statement of any kind."""
    nested = depth < MAX_DEPTH
    weights = {
        "collective": 26.0,
        "grouped": 9.0 if scope.groups else 0.0,
        "branch": 22.0 if nested else 0.0,
        "for": 9.0 if nested else 0.0,
        "while": 3.0 if nested else 0.0,
        "leave": 6.0,
        "call": 9.0 if scope.helpers else 0.0,
        "flag": 8.0 if scope.flags else 0.0,
        "try": 4.0 if nested and not scope.trying else 0.0,
        "with": 2.5 if nested else 0.0,
        "expression": 3.0,
        "noise": 6.0,
        "match": 1.0 if nested else 0.0,
    }
    match scope.rng.choices(list(weights), list(weights.values()))[0]:
        case "collective":
            return [world_collective(scope)]
        case "grouped":
            return grouped(scope)
        case "branch":
            return branch(scope, depth)
        case "for":
            return counted_loop(scope, depth)
        case "while":
            return conditional_loop(scope, depth)
        case "leave":
            return leave(scope)
        case "call":
            return [scope.call(scope.rng.choice(scope.helpers))]
        case "flag":
            return assign_flag(scope)
        case "try":
            return attempt(scope, depth)
        case "with":
            return managed(scope, depth)
        case "expression":
            return in_expression(scope)
        case "match":
            return matching(scope, depth)
        case _:
            return [noise(scope)]


def matching(scope: Scope, depth: int) -> Lines:
    """Write a ``match`` statement."""
    if scope.lists and scope.chance(0.5):
        subject, first = scope.lists.format("mode"), '"train"'
    else:
        subject, first = scope.rank, "0"
    return [
        f"match {subject}:",
        *indent(block(f"case {first}", body(scope, depth + 1))),
        *indent(block("case _", body(scope, depth + 1))),
    ]


def body(scope: Scope, depth: int, size: int | None = None) -> Lines:
    """Write a few statements."""
    count = size or scope.rng.choice((1, 1, 2, 2, 3))
    return [line for _ in range(count) for line in statement(scope, depth)]
