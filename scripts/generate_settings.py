"""Write down which keys, options and values an installed DeepSpeed, Accelerate or torch knows.

    python -m scripts.generate_settings deepspeed|accelerate|launchers

Run it where the library is installed; distlint itself need not be. Of DeepSpeed this is enough:
``DS_BUILD_OPS=0 pip install --no-deps --no-build-isolation deepspeed``. What the version knows is
added to ``distlint/catalogue/settings/*.json``, beside the versions that are there already. Nothing
is read from documentation: the library itself is watched while it looks keys up.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import io
import json
import sys
import typing
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "distlint" / "catalogue" / "settings"

Keys = dict[str, dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=sorted(_GENERATORS))
    library = parser.parse_args().library
    version, found = _GENERATORS[library]()
    path = FOLDER / f"{library}.json"
    data = json.loads(path.read_text()) if path.exists() else {"versions": {}}
    data["versions"][version] = found
    data["versions"] = dict(sorted(data["versions"].items(), key=lambda item: _numbers(item[0])))
    path.write_text(json.dumps(data, indent=1, sort_keys=False) + "\n")
    print(f"{path}: {library} {version}", file=sys.stderr)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".") if part.isdigit())


# ---- DeepSpeed


class _Recording(dict[str, Any]):
    """A section that notes which keys are looked up in it, with what default."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.seen: dict[str, Any] = {}

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key, default)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._note(key, None)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(str(key), None)
        return super().__contains__(key)

    def keys(self) -> Any:
        return self  # what is looked for in the keys is noted as well

    def __copy__(self) -> _Recording:
        return self

    def _note(self, key: str, default: Any) -> None:
        if self.seen.get(key) is None:
            self.seen[key] = default


def deepspeed() -> tuple[str, dict[str, Any]]:
    """The keys of the installed DeepSpeed, by section."""
    import deepspeed
    from deepspeed.runtime import config, lr_schedules

    top = _recorded(_Recording(train_batch_size=1))
    keys: Keys = {}
    for key in sorted(top):
        keys[key] = _section((key,), top[key])
    for key in _READ_BY_INITIALIZE:
        keys.setdefault(key, {"default": None})
    for key in ("optimizer", "scheduler"):
        keys[key]["keys"].setdefault("params", {"default": None})
    models = _models()
    for path, model in models.items():
        _place(keys, path, {"unknown": "forbidden", "keys": _fields(model)})
    removed = _removed(getattr(config, "_REMOVED_TOP_LEVEL_CONFIG_KEYS", {}))
    zero = _removed(getattr(config, "_REMOVED_ZERO_CONFIG_KEYS", {}))
    for key in removed:
        keys.pop(key, None)
    return deepspeed.__version__.strip(), {
        "keys": keys,
        "removed": removed | {f"zero_optimization.{key}": text for key, text in zero.items()},
        "optimizers": sorted(config.DEEPSPEED_OPTIMIZERS),
        "schedules": sorted(lr_schedules.VALID_LR_SCHEDULES),
    }


_READ_BY_INITIALIZE = (
    "allgather_size",
    "data_parallel_size",
    "sequence_parallel_size",
    "vocabulary_size",
)
"""Looked up in the dict itself by ``deepspeed.initialize`` and checks behind the configuration."""


_FREE = (
    "amp",  # what it holds is handed on to apex
    "data_efficiency",
    "datastates_ckpt",
    "expert_parallel",
    "pipeline",
    "elasticity",
    "compression_training",
    "sparse_attention",
    "curriculum_learning",
    "nebula",
)
"""Sections that other modules read by themselves, so that not every key is seen here."""


def _removed(messages: dict[str, str]) -> dict[str, str]:
    return {key: text.split(" See https")[0].strip() for key, text in messages.items()}


def _recorded(probe: _Recording) -> dict[str, Any]:
    from deepspeed.runtime.config import DeepSpeedConfig

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            DeepSpeedConfig(probe)
        except Exception as error:  # noted is noted, whatever comes of the values
            print(f"{sorted(probe)}: {error}", file=sys.stderr)
    return probe.seen


def _section(path: tuple[str, ...], default: Any) -> dict[str, Any]:
    """What is looked up in a section, if it is one that is read key by key."""
    found: dict[str, Any] = {"default": _plain(default)}
    if len(path) > 3 or path[0] in _FREE or path[-1] in ("params", "train_batch_size"):
        return found
    inner = _Recording()
    value: Any = inner
    for key in reversed(path[1:]):
        value = _Recording({key: value, "enabled": True})
    _recorded(_Recording({"train_batch_size": 1, path[0]: value}))
    seen = {key: value for key, value in inner.seen.items() if key != "auto"}
    if seen:
        found["unknown"] = "ignored"
        found["keys"] = {key: _section((*path, key), seen[key]) for key in sorted(seen)}
    return found


def _models() -> dict[tuple[str, ...], type[Any]]:
    """The pydantic models of the sections, by where DeepSpeed reads them from."""
    from deepspeed.runtime.config_utils import DeepSpeedConfigModel

    names = (
        ("fp16", "deepspeed.runtime.precision_config", "DeepSpeedFP16Config"),
        ("bf16", "deepspeed.runtime.precision_config", "DeepSpeedBF16Config"),
        ("bfloat16", "deepspeed.runtime.precision_config", "DeepSpeedBF16Config"),
        ("zero_optimization", "deepspeed.runtime.zero.config", "DeepSpeedZeroConfig"),
        ("comms_logger", "deepspeed.comm.config", "CommsLoggerConfig"),
        ("tensorboard", "deepspeed.monitor.config", "TensorBoardConfig"),
        ("wandb", "deepspeed.monitor.config", "WandbConfig"),
        ("csv_monitor", "deepspeed.monitor.config", "CSVConfig"),
        ("comet", "deepspeed.monitor.config", "CometConfig"),
        ("hybrid_engine", "deepspeed.runtime.config", "HybridEngineConfig"),
        ("compile", "deepspeed.compile.config", "CompileConfig"),
        ("weight_quantization", "deepspeed.inference.config", "WeightQuantConfig"),
        ("tensor_parallel", "deepspeed.runtime.tensor_parallel.config", "TPTrainingConfig"),
        ("timers.throughput", "deepspeed.utils.config", "DeepSpeedThroughputTimerConfig"),
        ("flops_profiler", "deepspeed.profiling.config", "DeepSpeedFlopsProfilerConfig"),
    )
    found: dict[tuple[str, ...], type[Any]] = {}
    for path, module, name in names:
        try:
            model = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
        if isinstance(model, type) and issubclass(model, DeepSpeedConfigModel):
            found[tuple(path.split("."))] = model
    return found


def _place(keys: Keys, path: tuple[str, ...], value: dict[str, Any]) -> None:
    for key in path[:-1]:
        keys = keys.setdefault(key, {"unknown": "ignored", "keys": {}}).setdefault("keys", {})
    keys[path[-1]] = {**keys.get(path[-1], {}), **value}


def _fields(model: type[Any]) -> Keys:
    found: Keys = {}
    if not hasattr(model, "model_fields"):
        return _old_fields(model)
    for name, field in model.model_fields.items():
        entry: dict[str, Any] = _typed(field.annotation)
        default = field.get_default(call_default_factory=True)
        if not field.is_required() and not isinstance(default, (dict,)):
            entry["default"] = _plain(default)
        for constraint in field.metadata:
            for bound in ("gt", "ge", "lt", "le"):
                if getattr(constraint, bound, None) is not None:
                    entry[bound] = getattr(constraint, bound)
        extra = field.json_schema_extra or {}
        if isinstance(extra, dict) and extra.get("deprecated"):
            entry["deprecated"] = extra.get("new_param", "")
        alias = field.alias
        if alias and alias != name:
            found[alias] = entry
            found[name] = {**entry, "spelling_of": alias}
        else:
            found[name] = entry
    return dict(sorted(found.items()))


def _old_fields(model: type[Any]) -> Keys:
    """The same for a model of pydantic 1."""
    found: Keys = {}
    for name, field in model.__fields__.items():
        entry: dict[str, Any] = _typed(field.outer_type_)
        if field.allow_none:
            entry["nullable"] = True
        if not isinstance(field.default, dict):
            entry["default"] = _plain(field.default)
        for bound in ("gt", "ge", "lt", "le"):
            if getattr(field.field_info, bound, None) is not None:
                entry[bound] = getattr(field.field_info, bound)
        if field.field_info.extra.get("deprecated"):
            entry["deprecated"] = field.field_info.extra.get("new_param", "")
        if field.alias != name:
            found[field.alias] = entry
            found[name] = {**entry, "spelling_of": field.alias}
        else:
            found[name] = entry
    return dict(sorted(found.items()))


def _typed(annotation: Any) -> dict[str, Any]:
    """The type of a field as the rules ask for it."""
    origin = typing.get_origin(annotation)
    arguments = [each for each in typing.get_args(annotation) if each is not type(None)]
    nullable = type(None) in typing.get_args(annotation)
    found: dict[str, Any] = {}
    if origin is typing.Annotated:
        return _typed(arguments[0])
    if origin is typing.Literal:
        found = {"values": list(arguments)}
    elif arguments and origin in (typing.Union, getattr(__import__("types"), "UnionType", None)):
        parts = [_typed(each) for each in arguments]
        if len(parts) == 1:
            found = parts[0]
        elif any("keys" in part for part in parts):
            found = next(part for part in parts if "keys" in part) | {"type": "any"}
        elif all("type" in part for part in parts):
            found = {"type": " | ".join(part["type"] for part in parts)}
    elif isinstance(annotation, type):
        if issubclass(annotation, enum.Enum):
            found = {"values": [_plain(each.value) for each in annotation]}
        elif hasattr(annotation, "model_fields") or hasattr(annotation, "__fields__"):
            old = getattr(getattr(annotation, "__config__", None), "extra", None)
            extra = getattr(annotation, "model_config", {}).get(
                "extra", getattr(old, "value", None)
            )
            found = {
                "unknown": "forbidden" if extra == "forbid" else "ignored",
                "keys": _fields(annotation),
            }
        else:  # or a constrained kind of one
            kinds = (bool, int, float, str, list, dict)
            known = [kind.__name__ for kind in kinds if issubclass(annotation, kind)]
            found = {"type": known[0]} if known else {}
    if nullable:
        found["nullable"] = True
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None


# ---- Accelerate


def accelerate() -> tuple[str, dict[str, Any]]:
    """The keys of the YAML files of the installed Accelerate."""
    import accelerate
    from accelerate.commands.config import config_args
    from accelerate.utils import dataclasses

    def fields(cls: Any) -> list[str]:
        return sorted(cls.__dataclass_fields__)

    options = [*_options("accelerate"), *_read_by_launcher()]
    return accelerate.__version__, {
        "keys": fields(config_args.ClusterConfig),
        "sagemaker": fields(config_args.SageMakerConfig),
        "distributed_type": [each.value for each in dataclasses.DistributedType],
        "mixed_precision": [str(each) for each in dataclasses.PrecisionType.list()],
        "sections": {
            section: sorted(
                {
                    name.lstrip("-").replace("-", "_")
                    for name in options
                    if name.startswith("--") and name[2:].replace("-", "_").startswith(prefixes)
                }
            )
            for section, prefixes in _SECTIONS.items()
        },
    }


def _read_by_launcher() -> list[str]:
    """What the launcher looks for that has no option: a file alone can say it."""
    import ast
    import inspect

    from accelerate.utils import launch

    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(launch))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "args":
                found.add(f"--{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "getattr" and isinstance(node.args[1], ast.Constant):
                found.add(f"--{node.args[1].value}")
    return sorted(found - {"--deepspeed_fields_from_accelerate_config"})


_SECTIONS = {
    "fsdp_config": ("fsdp_",),
    "fp8_config": ("fp8_",),
    "dynamo_config": ("dynamo_",),
    "megatron_lm_config": ("megatron_lm_",),
    "parallelism_config": ("parallelism_config_",),
    "mpirun_config": ("mpirun_",),
    "deepspeed_config": (
        "deepspeed_",
        "zero_stage",
        "zero3_",
        "offload_",
        "gradient_accumulation_steps",
        "gradient_clipping",
    ),
}


# ---- launchers


def launchers() -> tuple[str, dict[str, Any]]:
    """The options of the launchers that are installed."""
    import torch

    found = {}
    for name in ("torchrun", "accelerate", "deepspeed"):
        try:
            found[name] = _options(name)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return torch.__version__.split("+")[0], found


def _options(launcher: str) -> dict[str, str]:
    """Each option string, and how many words follow it: ``0``, ``1``, ``?`` or ``*``."""
    if launcher == "torchrun":
        from torch.distributed.run import get_args_parser

        parser = get_args_parser()
    elif launcher == "accelerate":
        from accelerate.commands.launch import launch_command_parser

        parser = launch_command_parser()
    else:
        parser = _deepspeed_parser()
    found = {}
    for action in parser._actions:
        for option in action.option_strings:
            count = action.nargs if action.nargs is not None else "1"
            found[option] = str(count)
    return dict(sorted(found.items()))


def _deepspeed_parser() -> argparse.ArgumentParser:
    from deepspeed.launcher import runner

    caught: list[argparse.ArgumentParser] = []
    real = argparse.ArgumentParser.parse_args

    def catch(self: argparse.ArgumentParser, *_: Any, **__: Any) -> Any:
        caught.append(self)
        raise SystemExit

    argparse.ArgumentParser.parse_args = catch  # type: ignore[method-assign]
    try:
        runner.parse_args([])
    except SystemExit:
        pass
    finally:
        argparse.ArgumentParser.parse_args = real  # type: ignore[method-assign]
    return caught[0]


_GENERATORS = {"deepspeed": deepspeed, "accelerate": accelerate, "launchers": launchers}

if __name__ == "__main__":
    main()
