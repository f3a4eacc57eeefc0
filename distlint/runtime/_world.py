"""Who takes part, and how ranks talk without a collective: the base of all other modules.

Small messages go through the store that ``init_process_group`` was given, in numbered rounds: each
group counts its own. A wait polls, so that it can end with a name instead of a stack of C++ frames,
holds no lock of the store, and works with every kind of store.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import secrets
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.util import Finalize
from types import FrameType
from typing import Any, NoReturn, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, finalize, ref

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed import distributed_c10d

from distlint.runtime._liveness import Presence
from distlint.runtime._store import Interrupted, delete, put, read, take, wait_until
from distlint.runtime.errors import (
    CollectiveError,
    DistributedError,
    GroupError,
    MissingRanksError,
    NotPicklableError,
    OrderError,
    PeerFailedError,
    StoreError,
    in_words,
)

Group: TypeAlias = "dist.ProcessGroup | None"
Timeout: TypeAlias = "float | timedelta | None"
AnyError = TypeVar("AnyError", bound=DistributedError)

LONG = 2 * 3600.0  # seconds; work on one rank that the others wait for may well take that
LINGER = 5.0  # seconds that the owner of the store stays at the end for those that still read
FAILED_LINGER = 2.0  # the same where it ends by a failure
FAREWELL = 30.0  # seconds that a failed rank stays for those which have not come yet
SWEEP = 64  # one-sided rounds after which all ranks meet, so that old keys can be deleted
ROUND_TRIP = 1 << 20  # bytes up to which a value is unpickled at home before it travels

_OWN = __name__.removesuffix("._world")


class Member:
    """This rank's place in a group, and its way to talk to the others.

    Attributes:
        rank: this rank's number in the group.
        size: how many ranks the group has.
        ranks: the global rank of each.
        timeout: seconds, those of the group.
    """

    def __init__(self, pg: dist.ProcessGroup | None) -> None:
        # Weakly: a group that is still alive when the interpreter ends aborts the process.
        self._pg = None if pg is None else ref(pg)
        self.rank = 0 if pg is None else dist.get_rank(pg)
        self.ranks = (0,) if pg is None else tuple(dist.get_process_group_ranks(pg))
        self.size = len(self.ranks)
        self._cpu = torch.device("cpu") if pg is None or _takes_cpu_tensors(pg) else None
        self.timeout = float("inf") if pg is None else _timeout_of(pg)
        self._channel: Channel | None = None
        self._nodes: list[str] | None = None
        self._presence = None if pg is None else _presence(pg, self.global_rank, self.ranks)

    @property
    def pg(self) -> dist.ProcessGroup | None:
        """The group; None without one, or when it has been destroyed."""
        return None if self._pg is None else self._pg()

    @property
    def device(self) -> torch.device:
        """Where tensors for the group's collectives have to lie; the CPU where that will do.

        Another one is not kept, for a program may choose its device after the first call.
        """
        return self._cpu or _device_of(self.pg)

    @property
    def global_rank(self) -> int:
        """This rank's number among all."""
        return self.ranks[self.rank]

    @property
    def alone(self) -> bool:
        """Is there nobody to agree with?"""
        return self.size == 1

    def channel(self, kind: str, timeout: Timeout) -> Channel:
        """The way to the others. All members have to ask for it together, once."""
        if self._channel is None:
            store = store_of(self.pg)
            if store is None:
                raise failure(
                    StoreError,
                    self,
                    f"{kind}: the backend has no store for communication between ranks",
                )
            self._channel = Channel(self, PrefixStore("distlint", store), kind, timeout)
        return self._channel

    def first_of_node(self, kind: str, timeout: Timeout) -> int:
        """The lowest rank of the group on this rank's machine. Asked for together, like channel."""
        if self._nodes is None:
            self._nodes = self.channel(kind, timeout).exchange(kind, node_name(), timeout)
        return self._nodes.index(self._nodes[self.rank])

    def seconds(self, timeout: Timeout) -> float:
        """A timeout as given, or the group's own."""
        if timeout is None:
            return self.timeout
        return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)

    def all_reduce(self, tensor: torch.Tensor, op: Any, kind: str) -> torch.Tensor:
        """Reduce in place, on a tensor that lies on ``device``; nothing to do when alone."""
        if not self.alone:
            pg = self._usable_pg(kind)
            try:
                dist.all_reduce(tensor, op=op, group=pg)
            except RuntimeError as error:
                self._raise_named(kind, error)
        return tensor

    def all_gather(self, tensor: torch.Tensor, kind: str) -> list[torch.Tensor]:
        """Equal shapes from all ranks, on ``device``."""
        if self.alone:
            return [tensor]
        parts = [torch.empty_like(tensor) for _ in range(self.size)]
        pg = self._usable_pg(kind)
        try:
            dist.all_gather(parts, tensor, group=pg)
        except RuntimeError as error:
            self._raise_named(kind, error)
        return parts

    def _raise_named(self, kind: str, error: RuntimeError) -> NoReturn:
        """An error of torch.distributed, under a name and with a rank and a line."""
        if isinstance(error, DistributedError):  # of the watch
            raise error
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        missing, who = self._who_is_missing()
        message = f"{kind}: the collective failed: {who}{first}"
        raise failure(CollectiveError, self, message, missing=missing) from error

    def _who_is_missing(self) -> tuple[tuple[int, ...], str]:
        """The ranks for which a collective has failed, and a text that says so."""
        if self._presence is None:
            return (), ""
        try:
            ended, elsewhere = self._presence.missing()
        except Interrupted:  # a rank that ran out of memory has ended it
            return (), ""
        except RuntimeError:
            return (), "the store is unreachable, too, so the process that hosts it exited; "
        ranks = tuple(ended or elsewhere)
        if ended:
            processes = "process" if len(ranks) == 1 else "processes"
            return ranks, f"the {processes} of {in_words(ranks)} exited; "
        return ranks, f"{in_words(ranks)} did not take part; " if ranks else ""

    def _usable_pg(self, kind: str) -> dist.ProcessGroup:
        """The group, which must not have gone: torch would take the world in its place."""
        pg = self.pg
        if pg is None or pg not in distributed_c10d._world.pg_map:
            raise failure(GroupError, self, f"{kind}: its process group was destroyed")
        return pg


_members: WeakKeyDictionary[dist.ProcessGroup, Member] = WeakKeyDictionary()
_ALONE = Member(None)


def member(group: Group = None) -> Member:
    """This rank as a member of a group, by default of the world.

    Raises:
        GroupError: if the group has been destroyed or does not hold this rank.
    """
    pg = distributed_c10d.GroupMember.WORLD if group is None else group
    if pg is None:
        return _ALONE
    try:
        known = _members.get(pg)
    except TypeError:  # not even a group
        known = None
    if known is not None and pg in distributed_c10d._world.pg_map:
        return known
    _refuse_unusable(pg)
    _members[pg] = found = Member(pg)
    return found


def forget(groups: Sequence[dist.ProcessGroup]) -> None:
    """Drop what is known about groups that are being destroyed."""
    for pg in groups:
        known = _members.pop(pg, None)
        if known is not None and known._channel is not None and known._channel.farewell is not None:
            known._channel.farewell.detach()  # ranks were called back from its rounds


def groups_here() -> dict[dist.ProcessGroup, str]:
    """The process groups of this process that have not been destroyed, and their names."""
    return dict(distributed_c10d._world.pg_names)


def rounds_of(pg: dist.ProcessGroup) -> int:
    """How many rounds a group's channel has seen: equal on ranks that have done the same."""
    known = _members.get(pg)
    channel = None if known is None else known._channel
    return 0 if channel is None else channel.round


def _refuse_unusable(pg: object) -> None:
    rank = dist.get_rank() if dist.is_initialized() else 0
    if pg == dist.GroupMember.NON_GROUP_MEMBER:
        message = "this rank is not a member of the group"
    elif not isinstance(pg, dist.ProcessGroup):
        message = f"not a process group: {pg!r}"
    elif pg not in distributed_c10d._world.pg_map:
        message = "unknown process group: it was destroyed or re-created"
    else:
        return
    raise GroupError(message, rank=rank, site=call_site())


def _backends(pg: dist.ProcessGroup) -> dict[str, str]:
    """The backend for each type of device."""
    return dict(e.split(":", 1) for e in dist.get_backend_config(pg).split(",") if ":" in e)


def _takes_cpu_tensors(pg: dist.ProcessGroup) -> bool:
    backends = _backends(pg)
    if backends.get("cpu", "nccl") != "nccl":
        return True
    return all(name == "cpu" or getattr(torch, name, None) is None for name in backends)


def _device_of(pg: dist.ProcessGroup | None) -> torch.device:
    """This process's device, of the type that the group's backend is for."""
    bound = getattr(pg, "bound_device_id", None)
    if bound is not None:
        return torch.device(bound)
    kinds = () if pg is None else _backends(pg)
    kind = next((name for name in kinds if name != "cpu"), "cuda")
    return torch.device(kind, getattr(torch, kind).current_device())


def _timeout_of(pg: dist.ProcessGroup) -> float:
    limit = distributed_c10d.default_pg_timeout
    for kind in _backends(pg):
        with contextlib.suppress(AttributeError, RuntimeError):
            limit = pg._get_backend(torch.device(kind)).options._timeout
            break
    return float(limit.total_seconds())


def _presence(pg: dist.ProcessGroup, rank: int, ranks: Sequence[int]) -> Presence | None:
    store = store_of(distributed_c10d.GroupMember.WORLD)
    if store is None or len(ranks) < 2:
        return None
    return Presence(store, pg.group_name, rank, ranks)


def store_of(pg: dist.ProcessGroup | None) -> Store | None:
    entry = distributed_c10d._world.pg_map.get(pg) if pg is not None else None
    return None if entry is None else entry[1]


class Channel:
    """Numbered rounds in the store of a group, in which ranks post values and read those of others.

    The prefix of all keys is agreed on in the first round, for a store may still hold the keys of
    an earlier process group: each rank posts a number of its own, rank 0 a list of those it has
    seen, and who finds its own in there knows that the list is new.
    """

    def __init__(self, me: Member, store: Store, kind: str, timeout: Timeout) -> None:
        self.me = me
        self._rounds = [0]  # shared with the farewell, which outlives the channel
        self._own: list[list[str]] = []  # the keys of each message of this rank
        self._unmet = 0
        self._lobby = store
        self._limit = me.seconds(timeout)
        mine = prefix = secrets.token_hex(8)
        self._absent = [*range(1, me.size)] if me.rank == 0 else []
        self._lost: set[int] = set()  # shared with the farewell, too
        self._roster = [mine, *[""] * (me.size - 1)]
        self._listed = False
        self.farewell: finalize[Any, Any] | None = None
        with store_errors(me, kind):
            store.set(f"hello/{me.rank}", mine)
            if me.rank:
                prefix = self._join(kind, mine, self._limit)
        self.store: Store = PrefixStore(prefix, store)
        if me.global_rank == 0 and me.pg is not None:
            what = _Unread(self.store, me.size, self._rounds, self._lost, os.getpid())
            self.farewell = finalize(me.pg, _farewell, what)
            Finalize(None, self.farewell, exitpriority=100)  # in children of multiprocessing

    @property
    def round(self) -> int:
        """The number of the last round."""
        return self._rounds[0]

    def exchange(self, kind: str, value: object, timeout: Timeout = None) -> list[Any]:
        """Every rank's value, by rank of the group. All ranks wait for all."""
        everyone = range(self.me.size)
        with store_errors(self.me, kind):
            number = self.next_round()
            self._unmet = 0
            self._post(number, pack(kind, value))
            self._await(kind, number, everyone, self.me.seconds(timeout))
            payloads = read(self.store, [f"{number}/{rank}" for rank in everyone])
            self._sweep()
            self._done(number)
        return [
            unpack(self.me, kind, rank, payload, value)
            for rank, payload in zip(everyone, payloads, strict=True)
        ]

    def hand_out(self, kind: str, value: object, root: int, timeout: Timeout = None) -> Any:
        """The value of one rank, on all. The root does not wait for the others."""
        number = self.begin(timeout)
        if self.me.rank != root:
            return self.fetch(number, kind, root, timeout)
        self.post(number, kind, value)
        return value

    def begin(self, timeout: Timeout = None) -> int:
        """Open a round in which not all ranks wait for all; every rank does, in the same order.

        Now and then all meet before it, so that old keys can be deleted. That depends on the number
        of rounds alone, since what happens within one may differ from rank to rank.
        """
        self._unmet += 1
        if self._unmet > SWEEP:
            self.exchange("synchronization", None, timeout)
        return self.next_round()

    def next_round(self) -> int:
        """Open a round without ever meeting; whoever reads what is posted has to delete it."""
        self._rounds[0] += 1
        return self._rounds[0]

    def post(self, number: int, kind: str, value: object) -> None:
        """Give the value of this rank to whoever asks for it.

        Raises:
            NotPicklableError: here as well as on the ranks that ask for it.
            MissingRanksError: if this is the first round and some rank does not come to it.
        """
        payload = pack(kind, value)
        with store_errors(self.me, kind):
            self._post(number, payload)
            self._await_all(kind, self._limit)
            self._done(number)
        unpack(self.me, kind, self.me.rank, payload, value)

    def collect(self, kind: str, value: object, seconds: float) -> list[Any]:
        """On the first rank every rank's value, None where it did not come in time; elsewhere [].

        The other ranks do not wait.
        """
        number = self.next_round()
        if self.me.rank:
            self.post(number, kind, value)
            self._own.pop()  # the first rank deletes it
            return []
        keys = [f"{number}/{rank}" for rank in range(1, self.me.size)]
        with store_errors(self.me, kind):
            self._post(number, pack(kind, value))
            if wait_until(lambda: self._welcome() and self.store.check(keys), seconds):
                self._sweep()
            found = [value]
            for rank, key in enumerate(keys, 1):
                payload = take(self.store, key) if self.store.check([key]) else None
                found.append(None if payload is None else unpack(self.me, kind, rank, payload))
        return found

    def post_failure(self, number: int, kind: str, error: BaseException) -> None:
        """Tell the others, and let nothing get in the way of this rank's own exception."""
        self._limit = min(self._limit, FAREWELL)
        with contextlib.suppress(DistributedError):
            self.post(number, kind, Report.of(error))

    def fetch(self, number: int, kind: str, root: int, timeout: Timeout = None) -> Any:
        """The value that a rank gives in this round."""
        with store_errors(self.me, kind):
            self._await(kind, number, [root], self.me.seconds(timeout))
            (payload,) = read(self.store, [f"{number}/{root}"])
            if posted_kind(payload) != kind:
                self._post(number, pack(kind, None))  # so that the root hears of it
            self._done(number)
        return unpack(self.me, kind, root, payload)

    def _done(self, number: int) -> None:
        """Let the owner of the store know how far this rank has come; see _farewell."""
        if self.me.rank:
            self.store.set(f"done/{self.me.rank}", str(number))

    def _post(self, number: int, payload: bytes) -> None:
        self._own.append(put(self.store, f"{number}/{self.me.rank}", payload))

    def _await(self, kind: str, number: int, ranks: Sequence[int], seconds: float) -> None:
        keys = [f"{number}/{rank}" for rank in ranks]
        if not wait_until(lambda: (self._welcome(), self.store.check(keys))[1], seconds):
            absent = [r for r in ranks if not self.store.check([f"{number}/{r}"])]
            self._lost.update(absent)
            self._done(number)  # whoever holds the store need not stay for this rank
            raise missing_ranks(self.me, kind, absent)

    def _sweep(self) -> None:
        """All have come to this round, so all have read whatever was posted before it."""
        *old, last = self._own
        for key in (key for keys in old for key in keys):
            delete(self.store, key)
        self._own = [last]

    def _welcome(self) -> bool:
        """On rank 0: list who has come, until all have found themselves in the list."""
        if not self._absent:
            return True
        store, roster = self._lobby, self._roster
        present = [rank for rank in self._absent if store.check([f"hello/{rank}"])]
        hellos = read(store, [f"hello/{rank}" for rank in present])
        found = [*roster]
        for rank, hello in zip(present, hellos, strict=True):
            found[rank] = hello.decode()
        if found != roster or not self._listed:
            self._roster, self._listed = found, True
            store.set("roster", json.dumps(found))
        for rank in present:
            if store.check([f"ack/{rank}"]):
                if store.get(f"ack/{rank}").decode() == f"{found[0]}:{found[rank]}":
                    self._absent.remove(rank)
        return not self._absent

    def _await_all(self, kind: str, seconds: float) -> None:
        """On rank 0: stay until the others know where to look."""
        if not wait_until(self._welcome, seconds):
            self._lost.update(self._absent)
            raise missing_ranks(self.me, kind, self._absent)

    def _join(self, kind: str, mine: str, seconds: float) -> str:
        """On the others: wait until rank 0 lists the number that this rank has just posted."""
        store, rank = self._lobby, self.me.rank
        found: list[str] = []

        def listed() -> bool:
            if store.check(["roster"]):
                found[:] = json.loads(store.get("roster"))
            return len(found) > rank and found[rank] == mine

        if not wait_until(listed, seconds):
            silent = [r for r in range(self.me.size) if not store.check([f"hello/{r}"])]
            raise missing_ranks(self.me, kind, silent or [0])
        store.set(f"ack/{rank}", f"{found[0]}:{mine}")
        return found[0]


@dataclass(frozen=True)
class _Unread:
    """What tells whether the other ranks have read all that the owner of the store has posted."""

    store: Store
    size: int
    rounds: list[int]
    lost: set[int]
    process: int

    def all_read(self) -> bool:
        """Are all ranks that have not been given up through the last round?"""
        ranks = (rank for rank in range(1, self.size) if rank not in self.lost)
        keys = [f"done/{rank}" for rank in ranks]
        if not keys:
            return True
        return self.store.check(keys) and all(
            int(done) >= self.rounds[0] for done in read(self.store, keys)
        )


def _farewell(unread: _Unread) -> None:
    """When the group ends on rank 0, which may own the store: stay until the others have read.

    Called when the process group is destroyed or the process ends.
    """
    forked = os.getpid() != unread.process  # it shares the parent's connection: not to be used
    if unread.rounds[0] and not forked:
        with contextlib.suppress(RuntimeError, Interrupted):
            wait_until(unread.all_read, FAILED_LINGER if _failed.is_set() else LINGER)


_failed = threading.Event()


def ends_by_failure() -> None:
    """This process ends by a failure: it does not stay for the others for long."""
    _failed.set()


class store_errors:  # noqa: N801 - reads as a statement
    """Errors of the store itself, under a name and with a rank."""

    def __init__(self, me: Member, kind: str) -> None:
        self.me, self.kind = me, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RuntimeError) and not isinstance(error, DistributedError):
            first = str(error).strip().splitlines()[0]
            raise failure(
                StoreError,
                self.me,
                f"{self.kind}: the store is unreachable; the process that hosts it probably exited "
                f"({first})",
            ) from error


def exchange(kind: str, value: object, group: Group, timeout: Timeout = None) -> list[Any]:
    """Every rank's value; on a world of one, the value alone."""
    me = member(group)
    if me.alone:
        return [value]
    return me.channel(kind, timeout).exchange(kind, value, timeout)


def hand_out(kind: str, value: object, group: Group, timeout: Timeout = None, root: int = 0) -> Any:
    """The value of one rank of the group on all of them."""
    me = member(group)
    if me.alone:
        return value
    return me.channel(kind, timeout).hand_out(kind, value, root, timeout)


def agree(
    kind: str,
    error: BaseException | None,
    group: Group,
    timeout: Timeout = None,
    value: object = None,
) -> list[Any]:
    """Every rank's value if none has an error; else raise on all: one's own or the first peer's."""
    me = member(group)
    report = None if error is None else Report.of(error)
    answers = exchange(kind, (report, value), group, timeout)
    if error is not None:
        raise error
    for rank, (report, _) in enumerate(answers):
        if report is not None:
            raise peer_failed(me, kind, rank, report)
    return [value for _, value in answers]


class Report:
    """An exception on its way to other ranks: as it is, when it can be pickled, and as text."""

    def __init__(self, error: BaseException | None, summary: str, trace: str) -> None:
        self.error, self.summary, self.trace = error, summary, trace

    @staticmethod
    def of(error: BaseException) -> Report:
        """What can be told about an exception."""
        summary = _shortened("".join(traceback.format_exception_only(error)).strip(), 2_000)
        trace = _shortened("".join(traceback.format_exception(error)), 50_000)
        try:
            bare = pickle.loads(pickle.dumps(error))
        except Exception:
            bare = None
        return Report(bare if isinstance(bare, BaseException) else None, summary, trace)


def _shortened(text: str, most: int) -> str:
    """A text that every rank is about to print, without its middle if it is long."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"


def peer_failed(me: Member, kind: str, rank: int, report: Report) -> PeerFailedError:
    """The error for those that waited for a rank that failed."""
    peer = me.ranks[rank]
    return failure(
        PeerFailedError,
        me,
        f"{kind}: rank {peer} failed: {report.summary}",
        peer=peer,
        trace=report.trace,
    )


# What travels: a kind, the line that posted it, a state and a value.


class _Pickler(pickle.Pickler):
    """Tensors travel by way of the CPU and arrive on the receiver's own device of that kind."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, torch.Tensor) and value.device.type not in ("cpu", "meta"):
            return _to_own_device, (value.detach().cpu(), value.device.type)
        return NotImplemented


def _to_own_device(tensor: torch.Tensor, kind: str) -> torch.Tensor:
    module = getattr(torch, kind, None)
    if module is None or not module.is_available():
        return tensor
    return tensor.to(torch.device(kind, module.current_device()))


def pack(kind: str, value: object) -> bytes:
    """A message; when the value cannot be pickled, the message says so."""
    site = call_site()
    try:
        buffer = io.BytesIO()
        _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
        body = buffer.getvalue()
        if len(body) <= ROUND_TRIP:
            pickle.loads(body)
    except Exception as error:
        text = f"{type(value).__name__}: {type(error).__name__}: {error}"
        return pickle.dumps((kind, site, "unpicklable", text))
    return pickle.dumps((kind, site, "value", body))


def posted_kind(payload: bytes) -> str:
    """The kind of a message."""
    kind: str = pickle.loads(payload)[0]
    return kind


def unpack(me: Member, kind: str, rank: int, payload: bytes, own: object = None) -> Any:
    """The value in a message from a rank of the group; ``own`` is that of this rank's message.

    Raises:
        OrderError: if that rank was doing something else.
        NotPicklableError: if its value could not be sent.
    """
    theirs, site, state, body = pickle.loads(payload)
    peer = me.ranks[rank]
    if theirs != kind:
        raise failure(
            OrderError,
            me,
            f"this rank called {kind}, rank {peer} called {theirs} at {site}: all ranks must make "
            "the same calls in the same order",
        )
    if state == "unpicklable":
        raise failure(
            NotPicklableError, me, f"{kind}: the value of rank {peer} cannot be pickled: {body}"
        )
    if rank == me.rank:
        return own
    try:
        return pickle.loads(body)
    except Exception as error:
        raise failure(
            NotPicklableError,
            me,
            f"{kind}: this rank cannot unpickle the value of rank {peer}: {error}",
        ) from error


def failure(kind: type[AnyError], me: Member, message: str, **more: Any) -> AnyError:
    """An error with the rank and the line of the caller's script."""
    return kind(message, rank=me.global_rank, site=call_site(), **more)


def call_site() -> str:
    """The innermost line that is not of this package, of torch or of its glue."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = f"{frame.f_globals.get('__name__', '')}."
        if not name.startswith((f"{_OWN}.", "torch.", "contextlib.", "functools.")):
            return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


def foreign_data(me: Member, kind: str, values: object) -> OrderError:
    """The error for a reduction whose result cannot come from this call alone."""
    return failure(
        OrderError,
        me,
        f"{kind}: the reduction returned {values}, which {kind} never sends: another rank was in a "
        "different collective of the same size, and received wrong data, too; all ranks must make "
        "the same calls in the same order",
    )


def missing_ranks(me: Member, kind: str, ranks: Sequence[int]) -> MissingRanksError:
    """The error that names ranks of the group which did not come."""
    missing = tuple(me.ranks[rank] for rank in ranks)
    message = f"{kind}: {in_words(missing)} did not arrive within the timeout"
    return failure(MissingRanksError, me, message, missing=missing)


def node_name() -> str:
    """The machine, as far as the launcher tells machines apart."""
    return f"{socket.gethostname()}/{os.environ.get('GROUP_RANK', '')}"


def rank_and_size() -> tuple[int, int]:
    """Where this process stands: by the process group, else by the launcher's environment."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
