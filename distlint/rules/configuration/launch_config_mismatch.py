"""DST817: a launch line and a configuration that say different things."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import is_auto
from distlint.rules.configuration._launch import Launch, launches, script_text
from distlint.rules.configuration.ds_batch_math import contradiction
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity
from distlint.source.nesting import examine
from distlint.source.settings.sheet import Config
from distlint.source.settings.values import UNKNOWN, Scalar
from distlint.source.settings.yaml_text import resolved

_SAME = {
    "per_device_train_batch_size": ("train_micro_batch_size_per_gpu",),
    "gradient_accumulation_steps": ("gradient_accumulation_steps",),
    "max_grad_norm": ("gradient_clipping",),
    "learning_rate": ("optimizer", "params", "lr"),
    "weight_decay": ("optimizer", "params", "weight_decay"),
}
_STEPS = "gradient_accumulation_steps"
_ACCELERATOR = re.compile(r"\bAccelerator\s*\(")


class LaunchConfigMismatch(SettingsRule):
    """A launch line, the configuration that it names and the script contradict each other.

    ```bash
    # ds_config.json has "gradient_accumulation_steps": 4
    deepspeed train.py --deepspeed ds_config.json --gradient_accumulation_steps 8  # bad: 8, not 4
    ```

    ## Use instead

    ```bash
    # ds_config.json has "gradient_accumulation_steps": "auto"
    deepspeed train.py --deepspeed ds_config.json --gradient_accumulation_steps 8
    ```

    Or leave the option out of the launch line.

    ## Why is this bad?

    The Trainer raises "Please correct the following DeepSpeed config values that mismatch
    TrainingArguments values". DeepSpeed asserts that the batch sizes agree. Accelerate uses one of
    the two numbers and only warns.

    ## What is reported

    - Arguments of the Trainer on a line with `--deepspeed FILE` that differ from the same setting
      in that file (`--gradient_accumulation_steps 8` and `"gradient_accumulation_steps": 4`). This
      is an error.
    - Batch sizes in the file of `--deepspeed_config` or `--deepspeed` that do not agree with the
      number of processes that the line starts. This is an error.
    - `Accelerator(gradient_accumulation_steps=)` in the script and another number in the
      configuration of `accelerate launch --config_file`. This is a warning.

    Files are looked up from the directory of the launch file and from the two directories above it.

    ## What is not reported

    - The file or the script is not found, or a value is `"auto"` or not written out.

    ## Fix safety

    None: only you know which of the two is wrong.

    ## References

    - [transformers: DeepSpeed](https://huggingface.co/docs/transformers/deepspeed)
    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    """

    code = "DST817"
    name = "launch-config-mismatch"

    good = (
        Example(
            title="The file is not found",
            file="launch.sh",
            code="""\
deepspeed --num_gpus 4 train.py --deepspeed ds_config.json --gradient_accumulation_steps 8
""",
            effect="static",
            why_static="it needs the file that is named",
        ),
    )

    bad = (
        Example(
            title="Batch sizes that do not agree on three processes",
            file="train.py",
            code="""\
import subprocess

import deepspeed
import torch

CONFIG = {
    "train_batch_size": 64,
    "train_micro_batch_size_per_gpu": 8,
    "zero_optimization": {"stage": 2},
}
if __name__ == "__main__":
    model = torch.nn.Linear(2, 2)
    engine, *_ = deepspeed.initialize(model=model, config=CONFIG)


def launch():
    subprocess.run(["deepspeed", "--num_gpus", "3", "train.py"])  # expect: DST817
""",
            effect="static",
            why_static="it needs DeepSpeed and three GPUs",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            yield from self._trainer(page, launch)
            yield from self._batches(page, launch)
            yield from self._accumulation(page, launch)

    def _trainer(self, page: Page, launch: Launch) -> Iterator[Finding]:
        word = launch.argument("deepspeed")
        found = page.beside(word.text) if word is not None and word.text else None
        if found is None:
            return
        path, config = found
        for argument, keys in _SAME.items():
            given = launch.argument(argument)
            node = config.root.node(*keys)
            if given is None or given.text is None or not isinstance(node, Scalar):
                continue
            value, wanted = _number(given.text), node.value
            if is_auto(node) or wanted in (None, UNKNOWN) or value is None:
                continue
            if isinstance(wanted, (int, float)) and float(wanted) != value:
                key = ".".join(keys)
                yield self.finding(
                    page,
                    f"`--{argument} {given.text}`, but {path.name} has {wanted}",
                    Severity.ERROR,
                    (given.start, given.end),
                    effect="the Trainer raises a ValueError about values that mismatch",
                    help=f'Set `{key}` to "auto" in {path.name}',
                )

    def _batches(self, page: Page, launch: Launch) -> Iterator[Finding]:
        processes = _processes(launch)
        if processes is None:
            return
        for name, config, related in _configs_of(page, launch):
            problem = contradiction(config.root, processes)
            if problem is not None and contradiction(config.root) is None:
                yield self.finding(
                    page,
                    f"{problem}{f' ({name})' if name else ''}",
                    Severity.ERROR,
                    (launch.first.start, launch.command.end)
                    if page.sheet.kind != "python"
                    else (launch.first.start, launch.first.end),
                    effect="DeepSpeed fails at startup with an AssertionError",
                    help="Leave `train_batch_size` out of the configuration",
                    related=related,
                )

    def _accumulation(self, page: Page, launch: Launch) -> Iterator[Finding]:
        word = launch.options.get("config_file")
        if launch.launcher != "accelerate" or word is None or not word.text:
            return
        found = page.beside(word.text)
        text = script_text(page, launch)
        if found is None or text is None or not _ACCELERATOR.search(text):
            return
        path, config = found
        wanted = config.root.value("deepspeed_config", _STEPS)
        said = _steps_of_accelerator(text)
        if config.root.value("distributed_type") != "DEEPSPEED":
            return
        if isinstance(wanted, int) and said is not None and said != wanted:
            yield self.finding(
                page,
                f"the script accumulates {said} steps, but {path.name} has {wanted}",
                Severity.WARNING,
                (word.start, word.end),
                effect="Accelerate uses one of the two numbers and only warns",
                help="Set it in one place",
            )


def _number(text: str) -> float | None:
    value: Any = resolved(text)
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _processes(launch: Launch) -> int | None:
    """How many processes a launch line starts in all, if it says so."""
    if not launch.complete:
        return None
    if launch.launcher == "accelerate":
        return launch.number("num_processes")
    if launch.launcher == "deepspeed":
        if {"include", "exclude", "hostfile"} & launch.words.keys():
            return None
        nodes = launch.number("num_nodes") if "num_nodes" in launch.words else 1
        each = launch.number("num_gpus")
    else:
        nodes = launch.number("nnodes") if "nnodes" in launch.words else 1
        each = launch.number("nproc_per_node") if "nproc_per_node" in launch.words else 1
    return nodes * each if nodes and each else None


def _configs_of(page: Page, launch: Launch) -> Iterator[tuple[str, Config, tuple[Related, ...]]]:
    """The DeepSpeed configurations of what a line starts."""
    word = launch.argument("deepspeed_config", "deepspeed")
    if word is not None and word.text:
        found = page.beside(word.text)
        if found is not None:
            yield found[0].name, found[1], ()
        return
    script = launch.script.text if launch.script is not None else None
    if page.sheet.kind == "python" and script and page.path.name == script.rpartition("/")[2]:
        for config in page.of("deepspeed"):
            if config.reader == "deepspeed":
                yield "", config, ()


def _steps_of_accelerator(text: str) -> int | None:
    """The accumulation steps that the only ``Accelerator(...)`` of a script is given."""
    if examine(text).excess is not None:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Accelerator"
    ]
    if len(calls) != 1:
        return None
    for keyword in calls[0].keywords:
        if keyword.arg == _STEPS and isinstance(keyword.value, ast.Constant):
            return keyword.value.value if isinstance(keyword.value.value, int) else None
    return None
