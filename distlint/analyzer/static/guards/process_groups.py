"""What makes a process group, or needs one, by the names in a file."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.names import calls_of
from distlint.catalogue import shipped

RANK_OPTION = frozenset({"--local_rank", "--local-rank"})
"""The option by which old launchers pass the rank."""
_JOIN = "init_process_group"
_STARTS = frozenset({_JOIN, "DistributedDataParallel", "DDP", "FSDP", "LOCAL_RANK"})
_WRAPPERS = frozenset({"DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel"})


def is_distributed(module: Module) -> bool:
    """Does a file have to do with several processes, by its words?"""
    if not (shipped.words().signs | RANK_OPTION).isdisjoint(module.words):
        return True
    return {"save_checkpoint", "tag"} <= module.tokens  # DeepSpeed's engine in other hands


def starts_many(module: Module) -> bool:
    """Does a module itself join the processes, or wrap a model for them?"""
    return not (_STARTS.isdisjoint(module.tokens) and _STARTS.isdisjoint(module.words))


def only_imports_starts(module: Module) -> bool:
    """Is what joins processes imported, and then not used?"""
    used = {source for name, source in module.aliases.items() if name in module.tokens}
    return _STARTS.isdisjoint(module.tokens | used)


def makes_group(function: ir.Function, module: Module) -> bool:
    """Does a function of a module make the process group, or one that it calls?"""
    return _JOIN in function.tokens or any(
        _JOIN in other.tokens and not other.owner and other.name in function.tokens
        for other in module.functions
    )


def wraps(statement: ir.Stmt) -> bool:
    """Is it ``model = DistributedDataParallel(model)``, perhaps in a run of many processes only?

    Or a function's ``return DDP(model)``.
    """
    return isinstance(statement, (ir.Assign, ir.Return)) and any(
        ir.last_name(call.func) in _WRAPPERS for call in calls_of(statement)
    )
