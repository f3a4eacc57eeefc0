"""Make a trainer: a skeleton, some features, and code that is put into it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.embedding.features import FEATURES
from benchmarks.embedding.lines import Line, filled, indented, lines_of
from benchmarks.embedding.skeletons import Skeleton

_NAME = re.compile(r"@(:|[a-z_]+)")
_DIRECTIVE = re.compile(r"^( *)@(sum|save|load|wait|zero_grad|remove)(?:\((.*)\))?$")
_ORDER = list(FEATURES)


@dataclass(frozen=True)
class Insert:
    """Code for a trainer: lines by slot, and whole files beside it."""

    slots: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    files: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    backend: str = '"nccl"'


Files = dict[str, list[Line]]


def possible(skeleton: Skeleton) -> list[str]:
    """The features that a skeleton can have."""
    return [
        name
        for name, each in FEATURES.items()
        if skeleton.kind in each.kinds and (name != "clean_up" or skeleton.entry)
    ]


def closed(chosen: Sequence[str]) -> tuple[str, ...]:
    """The features with those that they require, in their order."""
    found = set(chosen)
    while True:
        more = {needed for name in found for needed in FEATURES[name].requires} - found
        if not more:
            return tuple(sorted(found, key=_ORDER.index))
        found |= more


def trainer(skeleton: Skeleton, chosen: Sequence[str], insert: Insert | None = None) -> Files:
    """The files of a trainer with these features, and with what is put into it."""
    insert = insert or Insert()
    chosen = closed(chosen)
    slots: dict[str, list[Line]] = defaultdict(list)
    for name in chosen:
        feature = FEATURES[name]
        for slot, text in feature.slots.items():
            made = lines_of(_spelled(text, skeleton))
            slots[slot] += [*made, Line(""), Line("")] if slot.endswith("defs") else made
        slots["imports"] += [line for text in feature.imports for line in lines_of(text)]
        for option, kind, default in feature.args:
            slots["fields"].append(Line(f"{option}: {kind} = {default}"))
            slots["args"].append(Line(_option(option, kind, default)))
    if len(skeleton.files) == 1 or not any("#% data_defs" in t for t in skeleton.files.values()):
        slots["defs"] += slots.pop("data_defs", [])
    if any("SimpleNamespace" in text for text in skeleton.files.values()):
        slots["imports"] += lines_of("from types import SimpleNamespace")
    for slot, lines in insert.slots.items():
        slots[slot] += lines
    slots["step"] = _step(skeleton, chosen, slots)
    slots["entry"] = _entry(skeleton, chosen)
    stop = [f"{_prefix(skeleton)}stopping"] if "signals" in chosen else []
    stop += [f"{_prefix(skeleton)}exhausted"] if "early_stop" in chosen else []
    if stop and skeleton.name != "runner":  # the loop of the runner is in its base class
        slots["call_epoch"] += lines_of(f"if {' or '.join(stop)}:\n    break")
    slots["imports"] = _distinct(slots["imports"])
    known = {line for text in skeleton.files.values() for line in text.splitlines()}
    if len(skeleton.files) == 1:
        slots["imports"] = [line for line in slots["imports"] if line.text not in known]
    files = {
        name: _tidied(filled(_template(text, skeleton, insert.backend), slots))
        for name, text in skeleton.files.items()
    }
    return {**files, **{name: list(lines) for name, lines in insert.files.items()}}


def spelled(text: str, skeleton: Skeleton) -> list[Line]:
    """Code in the words of features, as the skeleton has it."""
    return lines_of(_spelled(text, skeleton))


def _template(text: str, skeleton: Skeleton, backend: str) -> str:
    return _spelled(text.replace("#backend#", backend), skeleton)


def _prefix(skeleton: Skeleton) -> str:
    return skeleton.names["v"]


def _spelled(text: str, skeleton: Skeleton) -> str:
    lines = []
    for line in text.splitlines():
        match = _DIRECTIVE.match(line)
        if match is None:
            lines.append(line)
        else:
            done = _done(skeleton.kind, match[2], match[3])
            lines += [match[1] + each for each in done.splitlines()]
    return _NAME.sub(lambda match: _word(match, skeleton), "\n".join(lines))


def _word(match: re.Match[str], skeleton: Skeleton) -> str:
    context = {"accelerate": "accelerator", "fabric": "fabric"}.get(skeleton.kind, "")
    words = {
        ":": _prefix(skeleton),
        "first": f"{_prefix(skeleton)}start_epoch",
        "ctx": f"{context}, " if context else "",
        "ctx_last": f", {context}" if context else "",
        "ctx_only": context,
        **skeleton.names,
    }
    name = match[1]
    for known in ("ctx_last", "ctx_only", "ctx"):
        if name.startswith(known):
            return words[known] + name.removeprefix(known)
    return words.get(name, match[0])


def _done(kind: str, what: str, given: str | None) -> str:
    """How a framework does it."""
    path = given or ""
    if what == "sum":
        return {
            "accelerate": f'{path} = accelerator.reduce({path}, reduction="sum")',
            "fabric": f'{path} = fabric.all_reduce({path}, reduce_op="sum")',
        }.get(kind, f"dist.all_reduce({path})")
    if what == "wait":
        return {
            "accelerate": "accelerator.wait_for_everyone()",
            "fabric": "fabric.barrier()",
        }.get(kind, "dist.barrier()")
    if what == "zero_grad":
        return "@optimizer.zero_grad(set_to_none=True)"
    if what == "remove":
        return {"accelerate": f"shutil.rmtree({path})", "deepspeed": f"shutil.rmtree({path})"}.get(
            kind, f"os.remove({path})"
        )
    if what == "load":
        return (
            f'checkpoint = torch.load({path}, map_location="cpu", weights_only=True)\n'
            '@raw.load_state_dict(checkpoint["model"])\n'
            '@optimizer.load_state_dict(checkpoint["optimizer"])\n'
            '@:start_epoch = checkpoint["epoch"] + 1'
        )
    return {
        "accelerate": f"accelerator.save_state({path})",
        "deepspeed": f"model.save_checkpoint({path})",
        "fabric": f'fabric.save({path}, {{"model": model, "optimizer": optimizer}})',
        "fsdp": "options = StateDictOptions(full_state_dict=True, cpu_offload=True)\n"
        "weights = get_model_state_dict(model, options=options)\n"
        f'if rank == 0:\n    torch.save({{"model": weights, "epoch": epoch}}, {path})',
    }.get(
        kind,
        'if @main:\n    checkpoint = {\n        "model": @raw.state_dict(),\n'
        '        "optimizer": @optimizer.state_dict(),\n        "epoch": @epoch,\n    }\n'
        f"    torch.save(checkpoint, {path})",
    )


def _step(skeleton: Skeleton, chosen: Sequence[str], slots: Mapping[str, list[Line]]) -> list[Line]:
    """One iteration: forward, backward, update."""
    forward = "outputs = @model(inputs)\nloss = F.cross_entropy(outputs, targets)"
    amp, accumulate = "amp" in chosen, "accumulate" in chosen
    if amp:
        forward = "with torch.autocast(@device.type, enabled=@args.amp):\n" + "\n".join(
            f"    {line}" for line in forward.splitlines()
        )
    moved = "inputs, targets = inputs.to(@device), targets.to(@device)"
    scaled = "(loss / @args.accumulate)" if accumulate else "loss"
    backward, clip, update = _kinds_of_step(skeleton.kind, scaled, amp)
    found = [
        *spelled(f"{moved}\n{forward}", skeleton),
        *slots.get("after_forward", ()),
        *spelled(backward, skeleton),
    ]
    inner = spelled(clip, skeleton) if "clip" in chosen and clip else []
    inner += [*spelled(update, skeleton), *slots.get("post_step", ())]
    if accumulate:
        found += spelled("if (step + 1) % @args.accumulate == 0:", skeleton)
        inner = indented(inner)
    return [*found, *inner, *slots.get("after_step", ())]


def _kinds_of_step(kind: str, loss: str, amp: bool) -> tuple[str, str, str]:
    update = "@optimizer.step()\n@optimizer.zero_grad(set_to_none=True)"
    clip = "torch.nn.utils.clip_grad_norm_(@model.parameters(), @args.max_norm)"
    if kind == "accelerate":
        clip = "accelerator.clip_grad_norm_(@model.parameters(), @args.max_norm)"
        return "accelerator.backward(loss)", clip, update
    if kind == "deepspeed":
        return "@model.backward(loss)", "", "@model.step()"
    if kind == "fabric":
        clip = "fabric.clip_gradients(@model, @optimizer, max_norm=@args.max_norm)"
        return "fabric.backward(loss)", clip, update
    if kind == "fsdp":
        return "loss.backward()", "@model.clip_grad_norm_(@args.max_norm)", update
    if amp:
        update = update.replace("@optimizer.step()", "@:scaler.step(@optimizer)\n@:scaler.update()")
        clip = f"@:scaler.unscale_(@optimizer)\n{clip}"
        return f"@:scaler.scale({loss}).backward()", clip, update
    return f"{loss}.backward()", clip, update


def _entry(skeleton: Skeleton, chosen: Sequence[str]) -> list[Line]:
    end = "if dist.is_initialized():\n    dist.destroy_process_group()"
    if "clean_up" in chosen:
        body = "\n".join(f"    {line}" for line in end.splitlines())
        return lines_of(f"try:\n    {skeleton.entry}\nfinally:\n{body}")
    if skeleton.kind in ("accelerate", "fabric"):
        return lines_of(skeleton.entry)
    return lines_of(f"{skeleton.entry}\ndist.destroy_process_group()")


def _option(name: str, kind: str, default: str) -> str:
    flag = f'"--{name.replace("_", "-")}"'
    if kind == "bool":
        return (
            f"parser.add_argument({flag}, action=argparse.BooleanOptionalAction, default={default})"
        )
    return f"parser.add_argument({flag}, type={kind}, default={default})"


def _distinct(lines: Sequence[Line]) -> list[Line]:
    found: dict[str, Line] = {}
    for line in lines:
        found.setdefault(line.text, line)
    return list(found.values())


def _tidied(lines: Sequence[Line]) -> list[Line]:
    """Without more than two empty lines in a row."""
    found: list[Line] = []
    for line in lines:
        if line.text.strip() or [each.text.strip() for each in found[-2:]] != ["", ""]:
            found.append(line)
    return found
