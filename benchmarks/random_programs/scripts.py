"""Whole scripts: imports, set-up, and where the body goes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from benchmarks.random_programs.scope import GroupName, Lines, Scope, Script, block

STANDARD = ("argparse", "contextlib", "functools", "logging", "os", "random", "sys", "time")

UNKNOWN = {
    "project.config": ("load_config",),
    "project.data": ("load_shard", "read_batch", "write_report"),
    "project.switches": ("enabled", "should_stop", "should_eval", "is_trainable"),
    "project.tracking": ("note",),
}
"""Functions that scripts import from modules that are nowhere to be found."""

GROUPS = (
    GroupName("pair", (0, 1)),
    GroupName("upper", (2, 3)),
    GroupName("leaders", (0, 2)),
    GroupName("odd", (1, 3)),
    GroupName("trio", (0, 1, 2)),
)

PREDICATES = {
    "is_main_process": "dist.get_rank() == 0",
    "on_first_rank": 'int(os.environ.get("RANK", 0)) == 0',
}

ENVIRONMENT_RANKS = (
    ('int(os.environ["RANK"])', 'int(os.environ["LOCAL_RANK"])', 'int(os.environ["WORLD_SIZE"])'),
    ("dist.get_rank()", 'int(os.environ.get("LOCAL_RANK", 0))', "dist.get_world_size()"),
    ('int(os.getenv("RANK", "0"))', "{rank} % 2", "dist.get_world_size()"),
)


def _mentions(name: str, text: str) -> bool:
    return re.search(rf"(?<![.\w]){name}\b", text) is not None


def _parser(text: str) -> Lines:
    """Declare the arguments that the script reads."""
    lines = ["parser = argparse.ArgumentParser()"]
    for name in sorted(set(re.findall(r"\bargs\.([a-z_]+)", text)) - {"rank"}):
        option = f'"--{name.replace("_", "-")}"'
        if name.startswith("num_"):
            how = "type=int, default=2"
        elif name.startswith(("items", "files")):
            how = 'nargs="*", default=[]'
        elif name.startswith(("mode", "config")):
            how = "type=str"
        else:
            how = 'action="store_true"'
        lines.append(f"parser.add_argument({option}, {how})")
    return lines


def _used(definitions: dict[str, Lines], body: Lines) -> Lines:
    """Give the definitions that something refers to.

    The oracle never runs the others, and to an analyser each is the start of a program of its own.
    """
    kept = dict(definitions)
    while True:
        for name in kept:
            others = [line for other, lines in kept.items() if other != name for line in lines]
            if not _mentions(name, "\n".join([*body, *others])):
                del kept[name]
                break
        else:
            return [line for lines in kept.values() for line in ("", "", *lines)]


def assemble(
    script: Script, setup: Lines, body: Lines, shape: str, parse: bool, predicates: Iterable[str]
) -> str:
    """Put a script together around the body of its main part."""
    for name in predicates:
        script.define(name, block(f"def {name}()", [f"return {PREDICATES[name]}"]))
    defined = _used(script.definitions, [*setup, *body])
    text = "\n".join([*setup, *body, *defined])
    parsing = []
    if parse and _mentions("args", text):
        parsing = [*_parser(text), "args = parser.parse_args()"]
    start = [*parsing, 'dist.init_process_group("gloo")', *setup]
    used = "\n".join([*start, text])
    head: Lines = [f"import {name}" for name in STANDARD if re.search(rf"\b{name}\.", used)]
    if _mentions("DEADLINE", used) or _mentions("START", used):
        head = sorted({*head, "import time"})
    if _mentions("logger", used):
        head = sorted({*head, "import logging"})
    head += ["", "import torch", "import torch.distributed as dist"]
    for module, functions in UNKNOWN.items():
        if names := [name for name in functions if re.search(rf"\b{name}\(", used)]:
            head.append(f"from {module} import {', '.join(names)}")
    if _mentions("logger", used):
        head += ["", "logger = logging.getLogger(__name__)"]
    if _mentions("DEADLINE", used) or _mentions("START", used):
        head += ["", "START = time.time()", "DEADLINE = START + 3600"]
    end = ["dist.destroy_process_group()"] if script.rng.random() < 0.5 else []
    if shape == "module":
        lines = [*head, "", *start, *defined, "", "", *body, *end]
    else:
        lines = [*head, *defined, "", "", *block("def main()", [*start, *body])]
        lines += ["", "", *block('if __name__ == "__main__"', ["main()", *end])]
    return "\n".join(lines) + "\n"


def group_setup(groups: Iterable[GroupName], owner: str = "") -> Lines:
    """Create process groups on all ranks."""
    return [f"{owner}{each.name} = dist.new_group({list(each.ranks)})" for each in groups]


def pick_groups(rng: random.Random) -> tuple[GroupName, ...]:
    """Choose the sub-groups of a script."""
    return tuple(rng.sample(GROUPS, rng.choice((0, 0, 1, 1, 2))))


def rank_setup(rng: random.Random) -> Lines:
    """Define the rank variables in one of the usual ways."""
    rank, local, world = rng.choice(ENVIRONMENT_RANKS)
    if rng.random() < 0.15:  # the script also runs without a launcher
        return [
            'launched = int(os.environ.get("RANK", -1)) != -1',
            *block(
                "if launched",
                [
                    'rank = int(os.environ["RANK"])',
                    'local_rank = int(os.environ["LOCAL_RANK"])',
                    'world_size = int(os.environ["WORLD_SIZE"])',
                ],
            ),
            *block("else", ["rank, local_rank, world_size = 0, 0, 1"]),
        ]
    return [
        f"rank = {rank}",
        f"local_rank = {local.format(rank='rank')}",
        f"world_size = {world}",
    ]


def main_scope(script: Script, shape: str, groups: tuple[GroupName, ...]) -> tuple[Scope, Lines]:
    """Give the scope of the main part and the lines that set it up."""
    rng = script.rng
    setup = [*rank_setup(rng), "x = torch.ones(1)"]
    main = [f"{name}()" for name in PREDICATES if rng.random() < 0.3]
    rank_name = "rank"
    if rng.random() < 0.15:
        setup.append("args.rank = rank")
        rank_name = "args.rank"
        main.append("args.rank == 0")
    if rng.random() < 0.5:
        setup.append(f"is_main = {rng.choice(('rank == 0', 'not rank', 'rank in (-1, 0)'))}")
        main.append("is_main")
    settings = ["args.{}"]
    if rng.random() < 0.4:
        setup.append("cfg = load_config(args.config)")
        settings.append('cfg["{}"]' if rng.random() < 0.7 else "cfg.{}")
    setup += group_setup(groups)
    scope = Scope(
        script=script,
        rank=rank_name,
        local_rank="local_rank",
        world_size="world_size",
        main=tuple(main),
        settings=tuple(settings),
        lists="args.{}",
        tensor="x",
        groups=groups,
        function=shape == "main",
    )
    return scope, setup
