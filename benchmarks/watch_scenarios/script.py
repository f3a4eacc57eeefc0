"""From a scenario to a script, and from what its ranks printed to what was said."""

from __future__ import annotations

import re
import textwrap

from benchmarks.watch_scenarios.scenarios import FILE, Scenario

PATIENCE, INTERVAL = 0.8, 0.1

_HEAD = """\
import contextlib
import torch
import torch.distributed as dist
"""
_START = """\
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    t = torch.ones(4)
"""
_AROUND = {
    "plain": "with contextlib.nullcontext():\n",
    "watch": "from distlint.runtime import watch\n"
    f"with watch(patience={PATIENCE}, interval={INTERVAL}):\n",
    "strict": "from distlint.runtime import watch\n"
    f"with watch(strict=True, patience={PATIENCE}, interval={INTERVAL}):\n",
    "detail": "dist.set_debug_level(dist.DebugLevel.DETAIL)\nwith contextlib.nullcontext():\n",
    "accelerate": "import os\nos.environ['ACCELERATE_DEBUG_MODE'] = '1'\n"
    "from benchmarks.watch_scenarios.accelerated import Accelerated\n"
    "with contextlib.nullcontext():\n",
}
MODES = tuple(_AROUND)


def source(scenario: Scenario, mode: str) -> str:
    """The script of a scenario, to be run on each rank."""
    start = _START
    if mode == "accelerate":
        start += "    dist = Accelerated(dist)\n"
    body = textwrap.indent(scenario.body, "    ")
    return f"{_HEAD}{_AROUND[mode]}{start}{body}\n    keep = dist\n"


def texts(scenario: Scenario, mode: str) -> list[str]:
    """What the table must hold, with the lines of this script in place of their names."""
    lines = source(scenario, mode).splitlines()
    named = {
        match[1]: f"{FILE}:{number}"
        for number, line in enumerate(lines, start=1)
        if (match := re.search(r"# ([A-Z])$", line))
    }
    return [re.sub(r"\{([A-Z])\}", lambda match: named[match[1]], text) for text in scenario.says]


def tables(err: str) -> list[str]:
    """The tables that a rank has printed."""
    found = re.findall(r"^== distlint watch.*?^==$", err, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"/\S+/{FILE}", FILE, table) for table in found]
