"""What the catalogue says about a name: one frozen record for each table of the TOML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

AXES = ("tp", "dp", "pp", "cp", "ep", "sp", "mp")

KINDS = (
    "all_gather",
    "all_reduce",
    "all_to_all",
    "backward",
    "barrier",
    "broadcast",
    "checkpoint",
    "destroy",
    "eval_loop",
    "forward",
    "gather",
    "grad_norm",
    "group_creation",
    "init",
    "join",
    "loader_iter",
    "log_sync",
    "mesh_creation",
    "metric_sync",
    "optimizer_step",
    "reduce",
    "reduce_scatter",
    "rendezvous",
    "scatter",
    "state_dict",
    "train_loop",
    "wait",
    "wrap",
)

FORMS = ("call", "construct", "property", "iterate", "invoke", "enter", "exit", "around")

# "receiver" is the group that the object was built with, the world when none was named; "mesh" is a
# mesh that only the value knows, such as that of a DTensor.
GROUP_KINDS = ("world", "node", "receiver", "mesh", *AXES)

WRITTEN = ("data", "checkpoint", "download")

RESULTS = ("uniform", "uniform_in_place", "root_only", "local", "none")

# The condition of a conditional collective. The first lot comes from configuration, the launcher or
# the model, and may hold without a trace in the code; the second only when the code says so.
AMBIENT_TAGS = (
    "buffers",
    "deepspeed",
    "dispatch_batches",
    "dtensor",
    "first_use",
    "fsdp",
    "fsdp1",
    "fsdp2",
    "full_state_dict",
    "megatron",
    "moe",
    "nccl",
    "padded_tensors",
    "period",
    "rank0_only",
    "sagemaker",
    "sequence_parallel",
    "sharded_optimizer",
    "sharded_plugin",
    "sharded_state_dict",
    "shuffle",
    "sync_bn",
    "tensor_parallel",
    "wrapped_parts",
    "xla",
    "zero3",
)
EXPLICIT_TAGS = (
    "automatic_checkpoint_naming",
    "dist_sync_on_step",
    "trace_output",
)
TAGS = AMBIENT_TAGS + EXPLICIT_TAGS

# A tag that includes others: code known to run under "fsdp1" also meets "fsdp".
IMPLIED_TAGS: Mapping[str, tuple[str, ...]] = {
    "fsdp1": ("fsdp",),
    "fsdp2": ("fsdp", "dtensor"),
    "zero3": ("deepspeed",),
    "tensor_parallel": ("dtensor",),
}

RANK_SCOPES = ("global", "local", "node", "group", "mesh", *AXES)

ALIKE = "alike"
"""The value of what is the same on all ranks whatever it is given, such as a look at a disk."""

UNIFORM_VALUES = ("world_size", "local_world_size", "nodes", "true", "false", "unknown")


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter and the literal it is compared with, from ``"sync_dist=True"``."""

    param: str
    value: object


@dataclass(frozen=True, slots=True)
class Collective:
    """A call that every rank of a group has to make."""

    name: str
    framework: str
    kind: str
    form: str = "call"
    params: tuple[str, ...] = ()
    group: str | None = None
    group_kind: str | None = None
    root: str | None = None
    root_default: int | None = None
    group_root: str | None = None
    agree: tuple[str, ...] = ()
    async_: str | None = None
    payload: str | None = None
    result: str = "none"
    result_param: str | None = None
    only_under: tuple[str, ...] = ()
    always_since: str = ""
    """Version of the framework since which it communicates under all strategies."""
    only_with: tuple[Argument, ...] = ()
    not_with: tuple[Argument, ...] = ()
    not_given: tuple[str, ...] = ()
    """Parameters by which it is handed what it would communicate for."""
    members_with: tuple[Argument, ...] = ()
    not_built_with: tuple[Argument, ...] = ()
    once_until: tuple[str, ...] = ()
    after_gradients: bool = False
    """Does it take part only if a forward with gradients has come since the last one without?"""
    each: str | None = None
    """Argument with an item for each time that it communicates."""
    alone: bool = False
    """Does it work in one process, too, which no launcher has started?"""
    note: str = ""

    def position(self, param: str) -> int | None:
        """Where ``param`` stands among the positional arguments; None when it is keyword-only."""
        return position(self.params, param)


@dataclass(frozen=True, slots=True)
class RankSource:
    """A value that tells a process which rank it is, or whether it is the main one."""

    name: str
    framework: str
    form: str = "call"
    scope: str = "global"
    test: str | None = None
    params: tuple[str, ...] = ()
    group: str | None = None
    axis: str | None = None
    local_param: str | None = None
    callback: str | None = None
    note: str = ""

    def position(self, param: str) -> int | None:
        """Where ``param`` stands among the positional arguments; None when it is keyword-only."""
        return position(self.params, param)


@dataclass(frozen=True, slots=True)
class UniformSource:
    """A value that is the same on all ranks."""

    name: str
    framework: str
    form: str = "call"
    value: str = "unknown"
    params: tuple[str, ...] = ()
    group: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A value that differs from rank to rank without being the rank."""

    name: str
    framework: str
    why: str
    form: str = "call"
    weak: bool = False
    share: bool = False
    """Is it this rank's part of a whole, which may be larger on one rank than on another?"""
    even_from: tuple[str, ...] = ()
    """Names of what makes a whole that is meant to be divided evenly."""
    directory: bool = False
    """Is it a directory that no process of another run writes to?"""
    stream: str | None = None
    in_place: str | None = None
    params: tuple[str, ...] = ()
    handler: str | None = None
    seed: str | None = None
    """The parameter that seeds a generator; without it, and without a value, it draws at random."""

    @property
    def is_chance(self) -> bool:
        """Does it differ by random numbers, by the order of a set, or in rare set-ups only?"""
        is_order = self.form == "iterate" and "." not in self.name
        is_drawn = self.stream is not None or self.form == "generator"
        return self.weak or is_drawn or is_order


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """A type whose objects are followed through the program."""

    name: str
    framework: str
    bases: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    telltales: tuple[str, ...] = ()
    attributes: Mapping[str, str] | None = None
    params: tuple[str, ...] = ()
    wraps: str | None = None
    unwraps: str | None = None
    parts: str | None = None
    """The class of what is wrapped if its parts are wrapped as well."""
    parts_with: tuple[str, ...] = ()
    backward: bool = False
    shared: bool = False
    nests: bool = False
    tags: tuple[str, ...] = ()
    tagged_by: Mapping[str, str] | None = None
    alone_with: tuple[Argument, ...] = ()
    method_params: Mapping[str, str] | None = None
    batch_params: tuple[str, ...] = ()
    hooks_on_all: tuple[str, ...] = ()
    run_by: str | None = None
    many_with: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Returns:
    """A call whose result is a followed object.

    ``kinds`` names the type at each position of a returned tuple. A single word in its place:
    ``same`` returns the arguments (several as a tuple) after ``converts``; ``self`` returns the
    receiver; ``inner`` returns the object inside a wrapper; ``parts`` a collection of modules, and
    ``chain`` one that runs them one after the other when it is called. ``like`` names the call
    whose value stands at each position. ``model`` is the parameter that is a model, whatever is
    known of it.
    """

    name: str
    framework: str
    kinds: tuple[str, ...] | str = ()
    like: tuple[str, ...] = ()
    converts: Mapping[str, str] | None = None
    model: str | None = None
    params: tuple[str, ...] = ()
    in_place: str | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A decorator (or an overridden hook) whose function runs on some ranks only."""

    name: str
    framework: str
    runs_on: str
    process: str | None = None
    params: tuple[str, ...] = ()
    communicates: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class First:
    """A context manager that lets one rank go first; the others wait before the block.

    ``who`` goes first on each node with ``local_main``; all ranks meet in one barrier either way.
    """

    name: str
    framework: str
    who: str = "main"
    barrier: bool = True
    local_param: str | None = None
    params: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class GroupSource:
    """A call or attribute that yields a process group or a mesh."""

    name: str
    framework: str
    form: str = "call"
    axis: str | None = None
    ranks: str | None = None
    mesh: str | None = None
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seed:
    """A call that seeds random streams, so that equal seeds make later draws uniform."""

    name: str
    framework: str
    streams: tuple[str, ...]
    params: tuple[str, ...] = ()
    seed: str = "seed"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A call that does not communicate, though its arguments have to be the same on all ranks.

    ``sets`` is what differs between the ranks otherwise: ``"the learning rate"``.
    """

    name: str
    framework: str
    agree: tuple[str, ...]
    sets: str
    params: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Gradients:
    """A context manager or decorator in which gradients are recorded, or are not.

    ``enabled_by`` is the parameter that decides it; without one it is ``enabled``.
    """

    name: str
    framework: str
    enabled: bool = False
    enabled_by: str = ""
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neutral:
    """A name that looks as if it communicated with all ranks and does not.

    One that ``reports`` shows or logs what it is given, on the first process only.
    """

    name: str
    framework: str
    reports: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """A function that gives a number for whole data, of predictions and labels.

    With ``mean``, it is the mean over the samples.
    """

    name: str
    framework: str
    mean: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """A call that writes a file, or that makes an object with methods (``by``) that write it.

    ``path`` is the parameter with the path, or the open file (always with ``opened``); without
    one, the path is the same in all calls. With ``mode``, the value of that parameter says
    whether it writes. A download is ``cached`` if it looks for the files first, and ``names`` is
    the parameter that may also be the path of a file.
    """

    name: str
    framework: str
    form: str = "call"
    what: str = "data"
    params: tuple[str, ...] = ()
    path: str = ""
    mode: str = ""
    by: tuple[str, ...] = ()
    opened: bool = False
    cached: bool = False
    names: str = ""
    not_with: tuple[Argument, ...] = ()
    not_given: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Retired:
    """A name that is gone, on its way out, or was never there."""

    name: str
    framework: str
    replacement: str = ""
    exists: bool = True
    since: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """All that the catalogue says about one name; at least one facet is set."""

    name: str
    collective: Collective | None = None
    rank: RankSource | None = None
    uniform: UniformSource | None = None
    local: LocalSource | None = None
    cls: ClassInfo | None = None
    returns: Returns | None = None
    guard: Guard | None = None
    first: First | None = None
    group: GroupSource | None = None
    seed: Seed | None = None
    agreement: Agreement | None = None
    gradients: Gradients | None = None
    neutral: Neutral | None = None
    score: Score | None = None
    retired: Retired | None = None

    @property
    def tells(self) -> bool:
        """Does it meet other ranks, or tell them apart?"""
        return bool(self.collective or self.first or self.guard or self.rank or self.local)


Row = (
    Collective
    | RankSource
    | UniformSource
    | LocalSource
    | ClassInfo
    | Returns
    | Guard
    | First
    | GroupSource
    | Seed
    | Agreement
    | Gradients
    | Neutral
    | Score
    | Write
    | Retired
)


def position(params: tuple[str, ...], param: str) -> int | None:
    """Where ``param`` stands in a parameter list written as in a ``def``, ``*`` included."""
    for index, name in enumerate(params):
        if name == param:
            return index
        if name.startswith("*"):
            return None
    return None
