"""The watch of one process: what the hooks tell it, from its beginning to its end."""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from distlint.runtime.collective_watch import sites
from distlint.runtime.collective_watch.calls import Described
from distlint.runtime.collective_watch.errors import WatchError
from distlint.runtime.collective_watch.hooks import Begun
from distlint.runtime.collective_watch.journal import GroupLog, Journal
from distlint.runtime.collective_watch.session import Options, Session, write

_generations = itertools.count(1)  # so that a later watch does not read what an earlier one wrote


class Watcher:
    """Watches one process; the hooks call it on the threads of the program."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.journal = Journal()
        self.local = self.journal.local
        self._session: Session | None = None
        self._pid = os.getpid()
        self._known: BaseException | None = None
        self._backward = False
        _watchers.add(self)

    # -- what the hooks tell ---------------------------------------------------------------------

    def begin(self, op: str, described: Described, *, later: bool, depth: int) -> Begun | None:
        session = self._session
        if session is None:
            return None
        group, payload, root, reduce = described
        if group is None:
            group = distributed_c10d.GroupMember.WORLD
        journal = self.journal
        try:
            log = journal.groups[group]
        except (KeyError, TypeError):
            log = journal.log_of(group, _open_log)
        if log is None:
            return None
        place = sites.path(sys._getframe(depth))
        entry = journal.enter(log, op, payload, root, reduce, place)
        kind = (op, id(reduce), root, payload, place)
        if kind not in session.seen:
            session.note(kind, log, entry)
        if op == "backward":
            self._backward = True
        else:
            self.local.inside = True
        if session.agreement is not None and len(log.ranks) > 1:
            try:
                session.agree(log, entry, later=later)
            except BaseException:
                self.close()
                raise
        return log, entry

    def end(self, begun: Begun, result: object, *, later: bool) -> None:
        if later:
            self.journal.started(result, *begun)
        elif isinstance(result, dist.ProcessGroup):
            self.journal.log_of(result, _open_log)

    def failed(self, error: Exception) -> None:
        doing = self.journal.slot().doing
        if doing is not None and isinstance(error, (ValueError, TypeError)) and not doing.waits:
            doing.log.retract(doing.entry)  # refused by torch: the other ranks see no call
        expected = isinstance(error, RuntimeError) and not isinstance(error, WatchError)
        if self._session is not None and doing is not None and expected:
            self._known = error
            self._session.ask(doing.log.name)

    def close(self) -> None:
        self.local.inside = False
        self.journal.leave()
        if self._backward:  # the autograd engine may have a thread of its own
            self._backward = False
            for slot in self.journal.slots:
                if slot.doing is not None and slot.doing.entry.op == "backward":
                    slot.doing = None

    def waits(self, work: object) -> bool:
        begun = self.journal.works.pop(id(work), None)
        session = self._session
        if begun is None or session is None:
            return False
        self.journal.wait(*begun)
        self.local.inside = True
        if session.agreement is not None:
            try:
                session.agree_later(*begun)
            except BaseException:
                self.close()
                raise
        return True

    def initialized(self) -> None:
        self.attach()

    def destroying(self, group: object) -> None:
        if group is None or group is distributed_c10d.GroupMember.WORLD:
            site = sites.user_site(sites.stack(sys._getframe(2)))
            error = sys.exc_info()[1]
            self.detach(f"destroyed its process group at {site}", error)

    def destroyed(self, group: object) -> None:
        self.journal.groups.pop(group, None)

    def last_call(self) -> None:
        """This process is about to be ended from outside: report, if it is in a collective.

        Else answer those that are in one, so that the table says where this rank was.
        """
        session = self._session
        if session is None:
            return
        session.ending = True
        doing = self.journal.doing()
        if doing is not None:
            session.ask(doing.log.name)
        else:
            session.stay()

    # -- life ------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Begin, if there is a default group of more than one rank."""
        if self._session is not None or not dist.is_initialized() or dist.get_world_size() < 2:
            return
        self.journal.reset()
        self.journal.log_of(distributed_c10d.GroupMember.WORLD, _open_log)
        number = next(_generations)  # also where it fails, since it is equal on all ranks
        try:
            self._session = Session(self.options, self.journal, number)
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            write(f"distlint watch: rank {dist.get_rank()} is not watched: {reason}")

    def detach(self, how: str, error: BaseException | None = None) -> None:
        """End: tell the others how, and wait a moment for their last word."""
        session, self._session = self._session, None
        if session is None or os.getpid() != self._pid:
            return
        expected = isinstance(error, RuntimeError) and not isinstance(error, WatchError)
        if expected and error is not self._known:
            session.ask("")  # perhaps what a collective in C++ has raised
        clean = error is None or (isinstance(error, SystemExit) and not error.code)
        session.leave(how if error is None else how_it_ended(error), clean=clean)


_watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()


def _unwatch() -> None:
    """A forked process has no thread of the watch, and no part in the collectives."""
    for watcher in list(_watchers):
        watcher._session = None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_unwatch)


def _open_log(group: object) -> GroupLog | None:
    if isinstance(group, tuple) and group and group[0] == "local":
        return GroupLog(f"those of {list(group[1])}", group[1])
    found = group if isinstance(group, dist.ProcessGroup) else _functional_group(group)
    if found is None:
        return None
    return GroupLog(found.group_name, tuple(dist.get_process_group_ranks(found)))


def _functional_group(group: Any) -> dist.ProcessGroup | None:
    """The process group behind what functional collectives take: a mesh, a name, ranks."""
    try:
        from torch._C._distributed_c10d import _resolve_process_group
        from torch.distributed import _functional_collectives as functional

        return _resolve_process_group(functional._resolve_group_name(group, ""))
    except Exception:  # whatever it is, the collective itself will say so
        return None


def how_it_ended(error: BaseException) -> str:
    """What became of a rank that an exception ends."""
    trace, frames = error.__traceback__, []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(sites.Site(code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    site = sites.user_site(frames[::-1])
    where = f" at {site}" if site else ""
    if isinstance(error, SystemExit):
        text = f"exited with status {error.code or 0}{where}"
        cause = error.__context__ if error.code else None
        return text if cause is None else f"{text}, after it {how_it_ended(cause)}"
    text = str(error).partition("\n")[0][:160]
    return f"raised {type(error).__name__}: {text}{where}"
