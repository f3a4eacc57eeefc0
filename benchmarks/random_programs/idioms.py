"""What correct rank-aware code looks like: short idioms that scripts put one after another.

Each function writes one idiom for a scope; all are correct as they stand. Functions and classes
that an idiom needs go to the script's definitions.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.random_programs.scope import Lines, Scope, block, indent
from benchmarks.random_programs.statements import group_collective, noise, world_collective

Idiom = Callable[[Scope], Lines]


def _both(scope: Scope, count: int = 2) -> Lines:
    return [world_collective(scope) for _ in range(scope.rng.choice((1, count)))]


def logging_on_main(scope: Scope) -> Lines:
    return [*block(f"if {scope.on_main()}", [noise(scope), noise(scope)]), *_both(scope)]


def turns_by_local_rank(scope: Scope) -> Lines:
    first = scope.rng.choice(("{l} == 0", "{r} == 0", "{l} in (-1, 0)", "{r} % 2 == 0"))
    test = scope.fill(first)
    other = (
        f"not ({test})"
        if scope.chance(0.5)
        else test.replace("==", "!=").replace(" in ", " not in ")
    )
    return [
        *block(f"if {other}", ["dist.barrier()"]),
        noise(scope),
        *block(f"if {test}", ["dist.barrier()"]),
    ]


def turns_by_flag(scope: Scope) -> Lines:
    first = scope.script.fresh("goes_first")
    return [
        f"{first} = {scope.rank_test()}",
        *block(f"if not {first}", ["dist.barrier()"]),
        noise(scope),
        *block(f"if {first}", ["dist.barrier()"]),
    ]


def same_in_both_arms(scope: Scope) -> Lines:
    calls = _both(scope)
    if scope.chance(0.5):
        calls = block(f"if {scope.uniform_test()}", calls)
    return [
        *block(f"if {scope.rank_test()}", [noise(scope), *calls]),
        *block("else", calls),
    ]


def object_from_main(scope: Scope) -> Lines:
    box = scope.script.fresh("box")
    call = f"dist.broadcast_object_list({box}, src=0)"
    return [
        *block(f"if {scope.on_main()}", [f'{box} = ["checkpoint"]', call]),
        *block("else", [f"{box} = [None]", call]),
        f"print({box}[0])",
    ]


def common_prefix(scope: Scope) -> Lines:
    first, second, test = world_collective(scope), world_collective(scope), scope.uniform_test()
    tail = block(f"if {test}", [second])
    return [
        *block(f"if {scope.rank_test()}", [first, noise(scope), *tail]),
        *block("else", [first, *tail]),
    ]


def members_only(scope: Scope) -> Lines:
    if not scope.groups:
        return _both(scope)
    group = scope.rng.choice(scope.groups)
    calls = [group_collective(scope, group), noise(scope)]
    kind = scope.rng.random()
    if kind < 0.6:
        return block(f"if {scope.member_test(group)}", calls)
    if kind < 0.8:
        return block(f"if dist.get_rank({group.name}) >= 0", calls)
    return calls


def equal_loops(scope: Scope) -> Lines:
    inner = [world_collective(scope)]
    if scope.chance(0.4):
        inner = block("if enabled(item)", inner)
    loop = block(f"for item in {scope.lists.format('items_train')}", inner)
    return [*block(f"if {scope.rank_test()}", [noise(scope), *loop]), *block("else", loop)]


def helper_returns_early(scope: Scope) -> Lines:
    name = scope.script.fresh("report")
    scope.script.define(
        name,
        block(
            f"def {name}(value)",
            [*block("if dist.get_rank() != 0", ["return"]), "print(value)"],
        ),
    )
    return [f"{name}({scope.tensor})", *_both(scope)]


def main_fails_fast(scope: Scope) -> Lines:
    scope_exit = scope.rng.choice(("raise ValueError('bad input')", "sys.exit(1)"))
    test = scope.rng.choice((scope.rank_test(), scope.local_test()))
    return [*block(f"if {test}", [scope_exit]), *_both(scope)]


def _ballot(scope: Scope, local: str, ballot: str) -> tuple[Lines, str]:
    """Let all ranks vote; give the lines and the test of the outcome."""
    kind = scope.rng.random()
    if kind < 0.25:
        lines = [
            f"{ballot} = torch.tensor([int({local})])",
            f"dist.all_reduce({ballot}, op=dist.ReduceOp.MAX)",
        ]
        return lines, scope.rng.choice(
            (f"{ballot}.item()", f"{ballot}.item() > 0", f"{ballot}[0] == 1")
        )
    if kind < 0.45:
        lines = [
            f"{ballot} = torch.zeros(1)",
            *block(f"if {local}", [scope.rng.choice((f"{ballot}.fill_(1)", f"{ballot}[0] = 1"))]),
            f"dist.all_reduce({ballot})",
        ]
        return lines, f"{ballot}.item() > 0"
    if kind < 0.65:
        lines = [
            f"{ballot} = [{local} if {scope.on_main()} else None]",
            f"dist.broadcast_object_list({ballot}, src=0)",
        ]
        return lines, f"{ballot}[0]"
    if kind < 0.8:
        lines = [
            f"{ballot} = [None] * {scope.world_size}",
            f"dist.all_gather_object({ballot}, {local})",
        ]
        return lines, f"any({ballot})"
    lines = [
        f"{ballot} = torch.zeros(1)",
        *block(f"if {scope.on_main()}", [f"{ballot}[0] = int({local})"]),
        f"dist.broadcast({ballot}, src=0)",
    ]
    return lines, f"{ballot}.item() == 1"


def stop_by_vote(scope: Scope) -> Lines:
    vote, agreed = _ballot(scope, scope.local_test(), scope.script.fresh("vote"))
    step = scope.script.fresh("epoch")
    return block(
        f"for {step} in range({scope.lists.format('num_epochs')})",
        [
            *_both(scope),
            *vote,
            *block(f"if {agreed}", [*block(f"if {scope.on_main()}", [noise(scope)]), "break"]),
            *_both(scope),
        ],
    )


def skip_by_vote(scope: Scope) -> Lines:
    vote, agreed = _ballot(scope, scope.local_test(), scope.script.fresh("skip"))
    return block(
        f"for item in {scope.lists.format('items_train')}",
        [*vote, *block(f"if {agreed}", ["continue"]), *_both(scope)],
    )


def vote_in_helper(scope: Scope) -> Lines:
    name = scope.script.fresh("any_rank")
    scope.script.define(
        name,
        block(
            f"def {name}(flag)",
            [
                "votes = torch.tensor([1 if flag else 0])",
                "dist.all_reduce(votes, op=dist.ReduceOp.MAX)",
                scope.rng.choice(("return bool(votes.item())", "return votes.item() == 1")),
            ],
        ),
    )
    return [*block(f"if {name}({scope.local_test()})", _both(scope)), noise(scope)]


def main_process_first(scope: Scope) -> Lines:
    name = scope.script.fresh("main_first")
    kind = scope.rng.random()
    if kind < 0.5:
        after = block("if dist.get_rank() == 0", ["dist.barrier()"])
        inner = [
            *block("if dist.get_rank() != 0", ["dist.barrier()"]),
            *(
                [*block("try", ["yield"]), *block("finally", after)]
                if kind < 0.2
                else ["yield", *after]
            ),
        ]
        scope.script.define(name, ["@contextlib.contextmanager", *block(f"def {name}()", inner)])
        return block(f"with {name}()", [noise(scope)])
    if kind < 0.75:
        inner = [
            *block("if not first", ["dist.barrier()"]),
            "yield",
            *block("if first", ["dist.barrier()"]),
        ]
        scope.script.define(
            name, ["@contextlib.contextmanager", *block(f"def {name}(first)", inner)]
        )
        return block(f"with {name}({scope.on_main()})", [noise(scope)])
    name = scope.script.fresh("MainFirst")
    methods = [
        *block("def __init__(self, first)", ["self.first = first"]),
        "",
        *block("def __enter__(self)", block("if not self.first", ["dist.barrier()"])),
        "",
        *block("def __exit__(self, *details)", block("if self.first", ["dist.barrier()"])),
    ]
    scope.script.define(name, block(f"class {name}", methods))
    return block(f"with {name}({scope.on_main()})", [noise(scope)])


def periodic_evaluation(scope: Scope) -> Lines:
    name = scope.script.fresh("evaluate")
    scope.script.define(
        name,
        block(
            f"def {name}(is_main, count)",
            [
                "total = torch.zeros(1)",
                *block("for _ in range(count)", ["total = total + 1"]),
                "dist.all_reduce(total)",
                *block("if is_main", ["print(total.item())"]),
                "return total",
            ],
        ),
    )
    step = scope.script.fresh("step")
    test = scope.uniform_test() if scope.chance(0.5) else f"should_eval({step})"
    return block(
        f"for {step} in range({scope.lists.format('num_rounds')})",
        block(f"if {test}", [f"{name}({scope.on_main()}, 2)"]),
    )


def agreed_failure(scope: Scope) -> Lines:
    loaded = scope.script.fresh("loaded")
    ballot = scope.script.fresh("status")
    reaction = scope.rng.choice(("raise RuntimeError('a rank could not load')", "sys.exit(0)"))
    if scope.function and scope.chance(0.5):
        reaction = "return"
    return [
        f"{loaded} = True",
        *block("try", [f"load_shard({scope.rank})"]),
        *block("except OSError", [f"{loaded} = False"]),
        f"{ballot} = torch.tensor([int({loaded})])",
        f"dist.all_reduce({ballot}, op=dist.ReduceOp.MIN)",
        *block(f"if {ballot}.item() == 0", [reaction]),
        *_both(scope),
    ]


def swallowed_before(scope: Scope) -> Lines:
    return [
        *block("try", [f"read_batch({scope.rank})"]),
        *block(f"except {scope.rng.choice(('OSError', 'Exception'))}", [noise(scope)]),
        *_both(scope),
    ]


def failure_passed_on(scope: Scope) -> Lines:
    reaction = scope.rng.choice(("raise", "raise RuntimeError('failed') from error", "sys.exit(1)"))
    return [
        *block("try", [f"load_shard({scope.rank})", *_both(scope)]),
        *block("except (OSError, ValueError) as error", ["print(error)", reaction]),
        *_both(scope),
    ]


def barrier_in_finally(scope: Scope) -> Lines:
    return [
        *block("try", block(f"if {scope.on_main()}", [f"write_report({scope.tensor})"])),
        *block("finally", ["dist.barrier()"]),
    ]


def one_after_another(scope: Scope) -> Lines:
    turn = scope.script.fresh("turn")
    return block(
        f"for {turn} in range({scope.world_size})",
        [*block(f"if {turn} == {scope.rank}", [noise(scope)]), "dist.barrier()"],
    )


def gathered_on_main(scope: Scope) -> Lines:
    parts = scope.script.fresh("parts")
    one = f"torch.zeros(1) for _ in range({scope.world_size})"
    if scope.chance(0.5):
        return [
            f"{parts} = [{one}] if {scope.on_main()} else None",
            f"dist.gather({scope.tensor}, {parts}, dst=0)",
            *block(f"if {parts} is not None", [f"print(len({parts}))"]),
        ]
    return [
        *block(
            f"if {scope.on_main()}",
            [f"{parts} = [{one}]", f"dist.gather({scope.tensor}, gather_list={parts}, dst=0)"],
        ),
        *block("else", [f"dist.gather({scope.tensor}, dst=0)"]),
    ]


def reduced_on_main(scope: Scope) -> Lines:
    return [
        f"dist.reduce({scope.tensor}, dst=0)",
        *block(f"if {scope.on_main()}", [f"print({scope.tensor}.item())"]),
    ]


def decorated(scope: Scope) -> Lines:
    name = scope.script.fresh("publish")
    scope.script.define(
        "main_only",
        block(
            "def main_only(function)",
            [
                "@functools.wraps(function)",
                *block(
                    "def wrapper(*args, **kwargs)",
                    [
                        *block("if dist.get_rank() == 0", ["return function(*args, **kwargs)"]),
                        "return None",
                    ],
                ),
                "return wrapper",
            ],
        ),
    )
    scope.script.define(name, ["@main_only", *block(f"def {name}(value)", ["print(value)"])])
    return [f"{name}({scope.tensor})", *_both(scope)]


def conditional_expressions(scope: Scope) -> Lines:
    return [
        f"print({scope.tensor}) if {scope.on_main()} else None",
        f"{world_collective(scope)} if {scope.uniform_test()} else None",
        f"{scope.on_main()} and print({scope.rank})",
    ]


def only_when_distributed(scope: Scope) -> Lines:
    name = scope.script.fresh("reduce_mean")
    test = scope.rng.choice(
        ("not dist.is_initialized()", "dist.get_world_size() < 2", "dist.get_world_size() == 1")
    )
    scope.script.define(
        name,
        block(
            f"def {name}(value)",
            [
                *block(f"if {test}", ["return value"]),
                "value = value.clone()",
                "dist.all_reduce(value)",
                "return value / dist.get_world_size()",
            ],
        ),
    )
    return [f"{scope.tensor} = {name}({scope.tensor})", *_both(scope)]


def node_group(scope: Scope) -> Lines:
    groups = scope.script.fresh("node_groups")
    mine = scope.script.fresh("node_group")
    return [
        f"{groups} = [dist.new_group([0, 1]), dist.new_group([2, 3])]",
        f"{mine} = {groups}[{scope.rank} // 2]",
        f"dist.all_reduce({scope.tensor}, group={mine})",
        *block(f"if {scope.fill('{l} == 0')}", [noise(scope)]),
        f"dist.barrier(group={mine})",
    ]


def trainer_object(scope: Scope) -> Lines:
    name = scope.script.fresh("Saver")
    shape = scope.rng.random()
    test = "self.is_main"
    head = block("def __init__(self, rank)", ["self.rank = rank", "self.is_main = rank == 0"])
    if shape < 0.4:
        head = [
            *block("def __init__(self, rank)", ["self.rank = rank"]),
            "",
            "@property",
            *block("def is_main(self)", ["return self.rank == 0"]),
        ]
    methods = [
        *head,
        "",
        *block("def write(self, value)", [*block(f"if not {test}", ["return"]), "print(value)"]),
        "",
        *block("def save(self, value)", ["self.write(value)", "dist.barrier()"]),
    ]
    scope.script.define(name, block(f"class {name}", methods))
    saver = scope.script.fresh("saver")
    if shape > 0.7:
        derived = scope.script.fresh("ShardSaver")
        lines = block("def write(self, value)", ["dist.all_reduce(value)", "super().write(value)"])
        scope.script.define(derived, block(f"class {derived}({name})", lines))
        name = derived
    return [f"{saver} = {name}({scope.rank})", f"{saver}.save({scope.tensor})"]


def state_in_dict(scope: Scope) -> Lines:
    state = scope.script.fresh("state")
    vote, agreed = _ballot(scope, f'{state}["done"]', scope.script.fresh("tally"))
    return [
        f'{state} = {{"done": False}}',
        f'{state}["done"] = {scope.local_test()}',
        *vote,
        *block(f"if {agreed}", _both(scope)),
    ]


def counted_while(scope: Scope) -> Lines:
    step = scope.script.fresh("tick")
    return [
        f"{step} = 0",
        *block(f"while {step} < 2", [f"{step} += 1", *_both(scope)]),
    ]


def until_agreed(scope: Scope) -> Lines:
    vote, agreed = _ballot(scope, scope.local_test(), scope.script.fresh("quorum"))
    return block("while True", [*vote, *block(f"if {agreed}", ["break"]), *_both(scope)])


def search_with_else(scope: Scope) -> Lines:
    return [
        *block(
            f"for item in {scope.lists.format('items_eval')}",
            [*_both(scope), *block(f"if {scope.uniform_test()}", ["break"])],
        ),
        *block("else", _both(scope)),
    ]


def by_mode(scope: Scope) -> Lines:
    return [
        f"match {scope.lists.format('mode')}:",
        *indent(block('case "train"', _both(scope))),
        *indent(block("case _", [noise(scope)])),
    ]


def per_item(scope: Scope) -> Lines:
    return [f"[{world_collective(scope)} for _ in {scope.lists.format('items_train')}]"]


def recursion(scope: Scope) -> Lines:
    name = scope.script.fresh("descend")
    scope.script.define(
        name,
        block(
            f"def {name}(level)",
            [*block("if level == 0", ["return"]), "dist.barrier()", f"{name}(level - 1)"],
        ),
    )
    return [f"{name}({scope.rng.choice((1, 2))})"]


def asynchronous(scope: Scope) -> Lines:
    work = scope.script.fresh("work")
    return [
        f"{work} = dist.all_reduce({scope.tensor}, async_op=True)",
        noise(scope),
        f"{work}.wait()",
    ]


def bound_function(scope: Scope) -> Lines:
    sync = scope.script.fresh("sync")
    if scope.chance(0.5):
        made = [f"{sync} = functools.partial(dist.all_reduce, op=dist.ReduceOp.MAX)"]
    else:
        made = block(f"def {sync}(value)", ["dist.all_reduce(value)"])
    return [*made, *block(f"if {scope.uniform_test()}", [f"{sync}({scope.tensor})"])]


def passed_function(scope: Scope) -> Lines:
    name = scope.script.fresh("apply")
    scope.script.define(name, block(f"def {name}(action, value)", ["return action(value)"]))
    action = scope.rng.choice(("dist.all_reduce", "lambda value: dist.broadcast(value, src=0)"))
    return [f"{name}({action}, {scope.tensor})", *_both(scope)]


def requested_stop(scope: Scope) -> Lines:
    """Write a module-level flag that a function sets, as signal handlers do."""
    flag = scope.script.fresh("STOP_REQUESTED")
    name = scope.script.fresh("request_stop")
    scope.script.define(flag, [f"{flag} = False"])
    scope.script.define(name, block(f"def {name}()", [f"global {flag}", f"{flag} = True"]))
    vote, agreed = _ballot(scope, flag, scope.script.fresh("request"))
    return [
        *block(f"if {scope.local_test()}", [f"{name}()"]),
        *vote,
        *block(f"if {agreed}", _both(scope)),
    ]


def main_decides(scope: Scope) -> Lines:
    decision = scope.script.fresh("decision")
    return [
        f"{decision} = None",
        *block(f"if {scope.on_main()}", [f"{decision} = {scope.local_test()}"]),
        f"shared = [{decision}]",
        "dist.broadcast_object_list(shared, src=0)",
        f"{decision} = shared[0]",
        *block(f"if {decision}", _both(scope)),
    ]


def best_metric(scope: Scope) -> Lines:
    best = scope.script.fresh("best")
    return [
        f"{best} = False",
        *block(f"if {scope.on_main()}", [f"{best} = {scope.local_test()}"]),
        *block(f"if {best}", [noise(scope)]),
        *_both(scope),
    ]


def early_exit(scope: Scope) -> Lines:
    return [*block(f"if {scope.uniform_test()}", ["sys.exit(0)"]), *_both(scope)]


def chores(scope: Scope) -> Lines:
    name = scope.script.fresh("tidy")
    scope.script.define(
        name,
        block(
            f"def {name}(is_main, value, repeat=False)",
            [
                *block("if is_main", ["print(value)"]),
                *block("if repeat", ["dist.all_reduce(value)"]),
                "dist.barrier()",
            ],
        ),
    )
    repeat = scope.rng.choice(("", ", True", f", repeat={scope.uniform_test()}"))
    return [f"{name}({scope.on_main()}, {scope.tensor}{repeat})"]


IDIOMS: tuple[Idiom, ...] = (
    logging_on_main,
    turns_by_local_rank,
    turns_by_flag,
    same_in_both_arms,
    object_from_main,
    common_prefix,
    members_only,
    members_only,
    equal_loops,
    helper_returns_early,
    main_fails_fast,
    stop_by_vote,
    stop_by_vote,
    skip_by_vote,
    vote_in_helper,
    main_process_first,
    main_process_first,
    periodic_evaluation,
    agreed_failure,
    swallowed_before,
    failure_passed_on,
    barrier_in_finally,
    one_after_another,
    gathered_on_main,
    reduced_on_main,
    decorated,
    conditional_expressions,
    only_when_distributed,
    node_group,
    trainer_object,
    state_in_dict,
    counted_while,
    until_agreed,
    search_with_else,
    by_mode,
    per_item,
    recursion,
    asynchronous,
    bound_function,
    passed_function,
    requested_stop,
    main_decides,
    best_metric,
    early_exit,
    chores,
)
