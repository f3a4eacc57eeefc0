"""Configurations and launch files of real repositories: findings, and what the libraries say.

    python -m benchmarks.configuration CORPUS [--verify] [--mutants N] [--preview] [--list CODE]

Every file in the corpus that configures or starts a training is found by its content, as a run of
``distlint check`` on the folder does, and checked. ``--verify`` needs DeepSpeed and Accelerate in
the environment: each DeepSpeed configuration goes through ``deepspeed.runtime.config``, each file
of Accelerate through its own loader and launcher, and the verdicts are compared with findings:

- *missed*: the library refuses the file, and no error was reported;
- *wrong*: an error was reported, and the library takes the file.

``"auto"`` is filled in before, as the Trainer and Accelerate do; the number of processes is the
smallest for which the batch sizes can be true. ``--mutants N`` does the same with N DeepSpeed
configurations that are made from those of the corpus by one change each: a key misspelt, moved or
repeated, a value of another type or out of range, another stage or batch size.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from distlint.rules.settings import find_in
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding, Severity
from distlint.source.settings.kinds import is_about_training, kind_of, may_be_source, may_set
from distlint.source.settings.sheet import Sheet, read
from distlint.source.settings.values import plain

_BY_THE_LIBRARY = ("DST802", "DST803", "DST804", "DST805", "DST806", "DST807", "DST808", "DST815")


@dataclass
class Outcome:
    """What came of a file."""

    path: Path
    kind: str
    sheet: Sheet | None
    findings: list[Finding] = field(default_factory=list)
    crash: str = ""
    malformed: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preview", action="store_true")
    parser.add_argument("--list", metavar="CODE", default="")
    parser.add_argument("--no-duplicates", action="store_true", help="leave out folders with @")
    chosen = parser.parse_args()
    begun = time.perf_counter()
    outcomes = [
        outcome
        for outcome in _outcomes(chosen.corpus)
        if not (chosen.no_duplicates and "@" in str(outcome.path.relative_to(chosen.corpus)))
    ]
    print(f"{time.perf_counter() - begun:.1f} s")
    _summary(outcomes, chosen.preview)
    if chosen.list:
        _listed(outcomes, chosen.corpus, chosen.list, chosen.preview)
    wrong = sum(bool(outcome.crash) for outcome in outcomes)
    if chosen.verify:
        wrong += _verified(outcomes, chosen.corpus)
    if chosen.mutants:
        wrong += _mutants(outcomes, chosen.mutants, random.Random(chosen.seed))
    return 1 if wrong else 0


def _outcomes(corpus: Path) -> Iterator[Outcome]:
    for folder, folders, names in os.walk(corpus):
        folders.sort()
        for name in sorted(names):
            if not may_be_source(name):
                continue
            path = Path(folder, name)
            try:
                data = path.read_bytes()
            except OSError:
                continue
            kind = kind_of(path, data[:256])
            if kind is None:
                continue
            if may_set(data) if kind == "python" else is_about_training(kind, path, data):
                yield _outcome(path, kind, data)


def _outcome(path: Path, kind: str, data: bytes) -> Outcome:
    outcome = Outcome(path, kind, None)
    try:
        document = Document.from_bytes(data, path)
        outcome.sheet = read(document)
        outcome.findings = find_in(outcome.sheet, {}, ()) if outcome.sheet else []
    except DocumentError as error:
        outcome.malformed = f"{error.row}:{error.column}: {error.message}"
    except Exception as error:
        outcome.crash = f"{type(error).__name__}: {error}"
    return outcome


def _summary(outcomes: list[Outcome], preview: bool) -> None:
    kinds = Counter(outcome.kind for outcome in outcomes)
    configs = Counter(
        f"{config.library} in {outcome.kind}"
        for outcome in outcomes
        if outcome.sheet is not None
        for config in outcome.sheet.configs
    )
    codes = Counter(f.code for outcome in outcomes for f in _shown(outcome, preview))
    print(f"files: {dict(kinds)}\nconfigurations: {dict(configs)}")
    print(f"findings: {sum(codes.values())} {dict(sorted(codes.items()))}")
    for outcome in outcomes:
        if outcome.crash or outcome.malformed:
            print(f"{outcome.path}: {outcome.crash or outcome.malformed}")


def _shown(outcome: Outcome, preview: bool) -> list[Finding]:
    from distlint.rules.registry import rules

    return [
        finding
        for finding in outcome.findings
        if preview or not (finding.preview or rules()[finding.code].preview)
    ]


def _listed(outcomes: list[Outcome], corpus: Path, code: str, preview: bool) -> None:
    for outcome in outcomes:
        for finding in _shown(outcome, preview):
            if finding.code.startswith(code):
                span = finding.place.span
                where = f"{outcome.path.relative_to(corpus)}:{span.row}:{span.column}"
                said = f"{where}: {finding.severity.value} {finding.code} {finding.message}"
                line = outcome.sheet.document.lines[span.row - 1].strip() if outcome.sheet else ""
                print(f"{said}\n    {line[:150]}")


# ---- what the libraries say


def _verified(outcomes: list[Outcome], corpus: Path) -> int:
    counts: Counter[str] = Counter()
    for outcome in outcomes:
        for config in outcome.sheet.configs if outcome.sheet else ():
            if config.library == "deepspeed":
                refusal = _deepspeed(plain(config.root), outcome.path, config.reader)
                codes = _BY_THE_LIBRARY
            elif outcome.kind == "yaml":
                refusal = _accelerate(outcome.path)
                codes = ("DST811", "DST812", "DST815", "DST816")
            else:
                continue
            if refusal is None:
                counts["not executable"] += 1
                continue
            own = [f for f in outcome.findings if f.code in codes]
            # what newer versions refuse and older ones take is a warning without requirements
            refused = any(f.severity is Severity.ERROR or f.code == "DST804" for f in own)
            verdict = {
                (True, True): "refused, reported",
                (False, False): "taken, no error",
                (True, False): "missed",
                (False, True): "wrong",
            }[bool(refusal), refused]
            counts[f"{config.library}: {verdict}"] += 1
            if verdict in ("missed", "wrong"):
                said = refusal or "; ".join(f.message for f in own)
                print(f"{verdict}: {outcome.path.relative_to(corpus)}: {said[:200]}")
    print(dict(sorted(counts.items())))
    return sum(count for key, count in counts.items() if key.endswith(("missed", "wrong")))


def _deepspeed(config: Any, path: Path, reader: str) -> str | None:
    """What DeepSpeed says against a configuration; empty if it takes it, None if it is partial."""
    if not isinstance(config, dict) or _unknown(config):
        return None
    from deepspeed.runtime.config import DeepSpeedConfig

    if path.suffix == ".json":
        import hjson
        from deepspeed.runtime.config_utils import dict_raise_error_on_duplicate_keys

        try:
            with open(path) as file:
                config = hjson.load(file, object_pairs_hook=dict_raise_error_on_duplicate_keys)
        except ValueError as error:
            return str(error)
    filled = _filled(config)
    world = _world(filled)
    quiet = io.StringIO()
    with (
        mock.patch("deepspeed.comm.get_rank", return_value=0),
        mock.patch("deepspeed.comm.get_world_size", return_value=world),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        try:
            DeepSpeedConfig(filled)
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return _optimizer(filled)


# ---- mutants

_VALUES: tuple[Any, ...] = (
    *(0, 1, 2, 3, 4, -1, 7, 5e8, 0.5, 1.5, "true", "no", "5e8", "12", "cpu", "gpu", "nvme", "none"),
    *(True, False, None, "auto", [], {}, [1], {"enabled": True}, "fp16", "bf16", "Adam", "warn"),
)
_MORE: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("zero_optimization", "offload_optimizer"), {"device": "cpu", "ratio": 0.3}),
    (("zero_optimization", "offload_param"), {"device": "cpu", "pin_memory": True}),
    (("zero_optimization", "cpu_offload"), True),
    (("zero_optimization", "cpu_offload"), False),
    (("zero_optimization", "stage3_gather_fp16_weights_on_model_save"), True),
    (("zero_optimization", "sub_group_size"), 1e9),
    (("zero_optimization", "compute_grad_norm"), False),
    (("bf16",), {"enabled": True}),
    (("fp16",), {"enabled": True, "fp16_master_weights_and_grads": True}),
    (("bf16",), {"enabled": False, "bf16_master_weights_and_grads": True}),
    (("amp",), {"enabled": False}),
    (("gradient_allreduce_op",), "sum"),
    (("communication_data_type",), "fp8"),
    (("checkpoint",), {"tag_validation": "Loud"}),
    (("optimizer",), {"type": "AdamX", "params": {}}),
    (("zero_optimization",), True),
    (("train_batch_size",), 37),
    (("gradient_accumulation_steps",), 3),
    (("tensorboard",), {"enabled": True, "job": "x"}),
    (("nosuch",), 1),
)


def _mutants(outcomes: list[Outcome], count: int, dice: random.Random) -> int:
    """Changed configurations, judged by DeepSpeed and by the rules."""
    seeds = [
        plain(config.root)
        for outcome in outcomes
        if outcome.kind == "json" and outcome.sheet is not None
        for config in outcome.sheet.configs
        if config.library == "deepspeed" and not _unknown(plain(config.root))
    ]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ds_config.json")
        while sum(counts.values()) < count:
            text = _mutated(dice.choice(seeds), dice)
            path.write_text(text)
            outcome = _outcome(path, "json", text.encode())
            if outcome.crash or outcome.sheet is None or not outcome.sheet.configs:
                counts["crash" if outcome.crash else "no longer a configuration"] += 1
                continue
            refusal = _deepspeed(plain(outcome.sheet.configs[0].root), path, "unknown")
            own = [f for f in outcome.findings if f.code in _BY_THE_LIBRARY]
            refused = any(f.severity is Severity.ERROR or f.code == "DST804" for f in own)
            verdict = ("taken, no error", "wrong", "missed", "refused, reported")
            said = verdict[2 * bool(refusal) + refused]
            counts[said] += 1
            if said in ("missed", "wrong"):
                reasons = "; ".join(f"{f.code} {f.message}" for f in own)
                print(f"{said}: {' '.join(text.split())}\n    {(refusal or reasons)[:300]}")
    print(f"mutants: {dict(sorted(counts.items()))}")
    return counts["missed"] + counts["wrong"] + counts["crash"]


def _mutated(config: dict[str, Any], dice: random.Random) -> str:
    """The text of a configuration with one change."""
    config = json.loads(json.dumps(config))
    sections = [config]
    for section in sections:  # grows while it is walked
        inner = (value for key, value in section.items() if key != "params")
        sections += [value for value in inner if isinstance(value, dict)]
    section = dice.choice([each for each in sections if each])
    key = dice.choice(list(section))
    how = dice.choice(("value", "value", "more", "more", "typo", "remove", "repeat"))
    if how == "value":
        section[key] = dice.choice(_VALUES)
    elif how == "more":
        path, value = dice.choice(_MORE)
        target = config
        for part in path[:-1]:
            if not isinstance(target.get(part), dict):
                target[part] = {}
            target = target[part]
        target[path[-1]] = value
    elif how == "typo":
        at = dice.randrange(len(key))
        section[key[:at] + key[at + 1 :] + dice.choice("xs")] = section.pop(key)
    elif how == "remove":
        del section[key]
    text = json.dumps(config, indent=2)
    if how == "repeat" and section is config:
        text = text.replace("{", f'{{\n  "{key}": {json.dumps(config[key])},', 1)
    return text


def _optimizer(config: dict[str, Any]) -> str:
    import torch
    from deepspeed.runtime.config import DEEPSPEED_OPTIMIZERS

    name = (config.get("optimizer") or {}).get("type")
    if name and name.lower() not in DEEPSPEED_OPTIMIZERS and not hasattr(torch.optim, name):
        return f"no optimizer {name}"
    return ""


def _unknown(value: Any) -> bool:
    from distlint.source.settings.values import UNKNOWN

    if isinstance(value, dict):
        return any(_unknown(each) for each in value.values())
    if isinstance(value, list):
        return any(_unknown(each) for each in value)
    return value is UNKNOWN


_BATCH = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")


def _filled(config: dict[str, Any]) -> dict[str, Any]:
    """With numbers for ``"auto"`` and for batch sizes that the trainer fills in."""
    filled = {key: value for key, value in config.items() if value != "auto"}
    if not set(_BATCH[:2]) & filled.keys():
        filled["train_micro_batch_size_per_gpu"] = 1
    return filled


def _world(config: dict[str, Any]) -> int:
    total, micro, steps = (config.get(key) for key in _BATCH)
    if isinstance(total, int) and isinstance(micro or steps, int):
        product = (micro or 1) * (steps or 1)
        if product > 0 and total % product == 0:
            return max(1, total // product if micro and steps else 1)
    return 1


def _accelerate(path: Path) -> str | None:
    """What ``accelerate launch --config_file`` says, up to the point where it would start."""
    from accelerate.commands import launch

    parser = launch.launch_command_parser()
    started: list[str] = []

    def caught(args: Any) -> None:
        started.append("")

    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        given = [] if b"num_processes:" in path.read_bytes() else ["--num_processes", "8"]
        args = parser.parse_args(["--config_file", str(path), *given, script.name])
        quiet = io.StringIO()
        with (
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
            mock.patch.object(launch, "deepspeed_launcher", lambda a: _prepared(a, "deepspeed")),
            mock.patch.object(launch, "multi_gpu_launcher", lambda a: _prepared(a, "multi")),
            mock.patch.object(launch, "simple_launcher", lambda a: _prepared(a, "simple")),
            mock.patch.object(launch, "tpu_launcher", caught),
            mock.patch.object(launch, "sagemaker_launcher", lambda c, a: caught(a)),
            mock.patch("accelerate.utils.launch.is_fp8_available", return_value=True),
            mock.patch("torch.cuda.device_count", return_value=8),
            mock.patch.dict(os.environ),
        ):
            try:
                launch.launch_command(args)
            except OSError:  # what has to be installed is not
                return None
            except Exception as error:
                if "SageMakerConfig" in str(error):  # Accelerate's own, for any such file
                    return None
                return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ""


def _prepared(args: Any, how: str) -> None:
    """What Accelerate's launchers check before they start anything."""
    from accelerate.utils import launch

    if how == "deepspeed":
        fields = args.deepspeed_fields_from_accelerate_config
        _, environment = launch.prepare_deepspeed_cmd_env(args)
        if getattr(args, "deepspeed_config_file", None):
            _beside_file(fields, environment)
    elif how == "multi":
        launch.prepare_multi_gpu_env(args)
    else:
        launch.prepare_simple_launcher_cmd_env(args)


def _beside_file(fields: str, environment: dict[str, str]) -> None:
    """The check of ``DeepSpeedPlugin``, which the started script would come to."""
    from accelerate.utils import DeepSpeedPlugin

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ds.json")
        file.write_text(json.dumps({"zero_optimization": {"stage": 2}}))
        with mock.patch.dict(os.environ, environment):
            os.environ["ACCELERATE_DEEPSPEED_CONFIG_FILE"] = str(file)
            os.environ["ACCELERATE_CONFIG_DS_FIELDS"] = fields
            DeepSpeedPlugin()


if __name__ == "__main__":
    sys.exit(main())
