"""How the rules of this family speak about a witness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import EventFact, Witness

_LONGEST_CONDITION = 40
_LONGEST_HEADLINE = 80
"""Columns: what both sides do is left out where it does not fit."""

WHAT = {
    "root": "root rank",
    "op": "reduce operation",
    "group": "process group",
    "dtype": "dtype",
    "shape": "shape",
}
"""What has to be the same on all ranks, by the name that the analysis gives it."""

_SINGLE = re.compile(r"rank \d+$")

_STEPS = frozenset({"forward", "backward"})

_STRATEGIES = {
    "automatic_checkpoint_naming": "automatic checkpoint naming",
    "buffers": "module buffers",
    "ddp": "DDP",
    "deepspeed": "DeepSpeed",
    "dispatch_batches": "`dispatch_batches`",
    "dist_sync_on_step": "`dist_sync_on_step`",
    "dtensor": "DTensor",
    "first_use": "lazy initialization",
    "fsdp": "FSDP",
    "fsdp1": "FSDP1",
    "fsdp2": "FSDP2",
    "full_state_dict": "a full state dict",
    "megatron": "Megatron",
    "moe": "MoE",
    "nccl": "NCCL",
    "padded_tensors": "tensors that are padded",
    "period": "periodic averaging",
    "rank0_only": "`rank0_only`",
    "sagemaker": "SageMaker",
    "sequence_parallel": "sequence parallelism",
    "sharded_optimizer": "a sharded optimizer",
    "sharded_plugin": "a sharding plugin",
    "sharded_state_dict": "a sharded state dict",
    "shuffle": "shuffling",
    "sync_bn": "SyncBatchNorm",
    "tensor_parallel": "tensor parallelism",
    "trace_output": "trace output",
    "wrapped_parts": "parts that are wrapped, too",
    "xla": "XLA",
    "zero3": "ZeRO-3",
}
"""How users know the tags of the catalogue."""

_WRAPPERS = {
    "DistributedDataParallel": "DDP",
    "FullyShardedDataParallel": "FSDP",
    "FSDPModule": "FSDP",
    "DeepSpeedEngine": "DeepSpeed",
    "ShardedDataParallel": "ShardedDDP",
}


def headline(witness: Witness, text: str) -> str:
    """The text, what comes next on each side if there is room for it, and the strategies."""
    full = f"{text}: {contrast(witness)}"
    end = proviso(witness)
    return (full if len(full + end) <= _LONGEST_HEADLINE else text) + end


def contrast(witness: Witness) -> str:
    """What comes next on each side: ``all_reduce on rank 0, nothing on the other ranks``."""
    first, second = witness.ranks
    return f"{_next(witness.first)} on {first}, {_next(witness.second)} on {second}"


def kinds(witness: Witness) -> frozenset[str]:
    """The catalogue kind of the collective that one side alone comes to; both if that is open."""
    if witness.subject is not None:
        return frozenset({witness.subject.kind})
    return frozenset(event.kind for event in (witness.first, witness.second) if event is not None)


def condition(witness: Witness) -> str:
    """The deciding condition as the source has it, short enough for one line."""
    text = " ".join(witness.cause.text.split())
    if len(text) > _LONGEST_CONDITION:
        text = text[: _LONGEST_CONDITION - 3] + "..."
    return f"`{text}`"


def guarded(witness: Witness, text: str) -> str:
    """The text, and under which strategies it holds, or else what guards the call."""
    if witness.conditional:
        return text + proviso(witness)
    by = condition(witness)
    how = f"guarded by {by}" if witness.cause.exit is None else f"`{witness.cause.exit}` on {by}"
    full = f"{text} ({how})"
    return full if len(full) <= _LONGEST_HEADLINE else text


def proviso(witness: Witness) -> str:
    """Under which strategies the collective communicates at all, as the end of a sentence."""
    names = [_STRATEGIES.get(tag, tag) for tag in witness.conditional]
    if not names:
        return ""
    return f" (with {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))})"


def skipped(witness: Witness) -> str:
    """The collective that an exit skips, where only one can be meant."""
    if witness.first is not None and witness.second is not None:
        return "a collective"
    return _next(witness.first or witness.second)


def only_on(witness: Witness, *wanted: str) -> tuple[EventFact, str] | None:
    """The event of one of these kinds that one side alone comes to, and the ranks of that side.

    Where single ranks stand for both sides, others may be with them: ``some ranks``.
    """
    names = ("some ranks",) * 2 if all(map(_SINGLE.match, witness.ranks)) else witness.ranks
    found = [
        (event, ranks)
        for event, ranks in zip((witness.first, witness.second), names, strict=True)
        if event is not None and event.kind in wanted
    ]
    if len(found) > 1 and witness.cause.exit is None:
        found = [each for each in found if each[0] is witness.subject]
    return found[0] if len(found) == 1 else None


def step_of(event: EventFact) -> str:
    """A forward or backward with the name of its wrapper: ``DDP forward``."""
    wrapper = _WRAPPERS.get(event.entry.split(".")[-2] if "." in event.entry else "")
    op = event.op if event.op in _STEPS else f"`{event.op}`"
    return f"{wrapper} {op}" if wrapper else f"`{event.op}` of a wrapped model"


def _next(event: EventFact | None) -> str:
    return "nothing" if event is None else f"`{event.op}`"


def steps(witness: Witness) -> bool:
    """Is one of the events the forward or backward of a wrapped model?"""
    return not kinds(witness).isdisjoint(_STEPS)
