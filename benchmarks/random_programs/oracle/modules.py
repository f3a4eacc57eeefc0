"""The modules that a script may import, as one simulated rank sees them."""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

from benchmarks.random_programs.oracle.dist_stub import Distributed
from benchmarks.random_programs.oracle.state import RANKS_PER_NODE, WORLD_SIZE, Fresh, State
from benchmarks.random_programs.oracle.torch_stub import Tensor, Torch

PREDICATES = ("enabled", "should_", "is_", "has_", "wants_")
"""Functions of unknown modules that answer a question; all others return something opaque."""


def _do_nothing(*_args: Any, **_kwargs: Any) -> None: ...


def _unknown_value(state: State, owner: str, name: str) -> Any:
    """Give a uniform unknown whose type its name tells, as names do in real scripts."""
    key = (owner, name)
    if name.startswith("num_"):
        return state.uniform(key, 3)
    if name.startswith("items"):
        return [f"{name}[{index}]" for index in range(state.uniform(key, 3))]
    if name.startswith("files"):
        return [f"{name}[{index}]" for index in range(state.uniform(key, 2 * WORLD_SIZE + 1))]
    if name.startswith("mode"):
        return ("train", "other")[state.uniform(key, 2)]
    return bool(state.uniform(key, 2))


class Settings:
    """Parsed arguments or a loaded configuration: every field is a uniform unknown."""

    def __init__(self, state: State, owner: str) -> None:
        self.__dict__["_state"] = state
        self.__dict__["_owner"] = owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _unknown_value(self._state, self._owner, name)

    def __getitem__(self, name: str) -> Any:
        return _unknown_value(self._state, self._owner, name)

    def get(self, name: str, default: Any = None) -> Any:
        return _unknown_value(self._state, self._owner, name)


class Opaque:
    """A value that nothing is known of; a script that decides on it is not in the comparison."""

    def __bool__(self) -> NoReturn:
        raise TypeError("the truth of an opaque value was asked")

    def __len__(self) -> NoReturn:
        raise TypeError("the length of an opaque value was asked")

    def __iter__(self) -> NoReturn:
        raise TypeError("an opaque value was iterated")


class Unknown:
    """A module that is nowhere to be found: what it exports can be called."""

    def __init__(self, state: State, rank: int) -> None:
        self._state = state
        self._rank = rank

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        function = self._function(name)
        setattr(self, name, function)
        return function

    def _function(self, name: str) -> Callable[..., Any]:
        state, rank = self._state, self._rank

        def predicate(*args: Hashable) -> bool:
            state.may_fail(rank)
            return bool(state.uniform((name, args), 2))

        def configuration(*args: Hashable) -> Settings:
            state.may_fail(rank)
            return Settings(state, f"{name}{args}")

        def opaque(*_args: Any, **_kwargs: Any) -> Opaque:
            state.may_fail(rank)
            return Opaque()

        if name.startswith(PREDICATES):
            return predicate
        return configuration if name == "load_config" else opaque


class _Parser:
    def __init__(self, state: State) -> None:
        self._state = state

    add_argument = _do_nothing

    def parse_args(self) -> Settings:
        return Settings(self._state, "args")


def _exit(status: object = None) -> NoReturn:
    raise SystemExit(status)


class Runtime:
    """What fixed scripts import from ``distlint.runtime``."""

    def __init__(self, distributed: Distributed) -> None:
        self._distributed = distributed

    def _agreed(self, flag: object, op: str) -> bool:
        tensor = Tensor([int(bool(flag))])
        self._distributed.all_reduce(tensor, op)
        return bool(tensor.item())

    def any_rank(self, flag: object) -> bool:
        return self._agreed(flag, "max")

    def all_ranks(self, flag: object) -> bool:
        return self._agreed(flag, "min")

    def from_main(self, value: object) -> object:
        held = [value]
        self._distributed.broadcast_object_list(held, 0)
        return held[0]


class Imports:
    """Everything one rank can import, and the builtins that do it."""

    def __init__(self, state: State, rank: int) -> None:
        distributed = Distributed(state, rank)
        torch = Torch(distributed, functools.partial(state.may_fail, rank))
        environ = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank % RANKS_PER_NODE),
            "WORLD_SIZE": str(WORLD_SIZE),
            "LOCAL_WORLD_SIZE": str(RANKS_PER_NODE),
            "GROUP_RANK": str(rank // RANKS_PER_NODE),
            "MASTER_ADDR": "localhost",
            "MASTER_PORT": "29500",
        }

        def fresh(*_args: Any) -> Fresh:
            return Fresh(state, rank)

        logger = SimpleNamespace(
            debug=_do_nothing, info=_do_nothing, warning=_do_nothing, error=_do_nothing
        )
        self.modules: Mapping[str, object] = {
            "torch": torch,
            "torch.distributed": distributed,
            "os": SimpleNamespace(
                environ=environ,
                getenv=environ.get,
                makedirs=_do_nothing,
                path=SimpleNamespace(join=lambda *parts: "/".join(parts)),
            ),
            "sys": SimpleNamespace(exit=_exit, argv=["train.py"]),
            "time": SimpleNamespace(
                time=fresh, monotonic=fresh, perf_counter=fresh, sleep=_do_nothing
            ),
            "random": SimpleNamespace(random=fresh, uniform=fresh),
            "argparse": SimpleNamespace(ArgumentParser=lambda *_a, **_k: _Parser(state)),
            "logging": SimpleNamespace(
                getLogger=lambda *_a: logger, basicConfig=_do_nothing, INFO=20, WARNING=30
            ),
            "distlint.runtime": Runtime(distributed),
            "contextlib": contextlib,
            "functools": functools,
        }
        self._unknown = Unknown(state, rank)
        self.builtins = dict(vars(builtins))
        self.builtins.update(__import__=self._import, print=_do_nothing, exit=_exit)

    def _import(
        self,
        name: str,
        _globals: Mapping[str, object] | None = None,
        _locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> object:
        wanted = name if fromlist else name.partition(".")[0]
        if wanted.partition(".")[0] == "project":
            return self._unknown
        try:
            return self.modules[wanted]
        except KeyError:
            raise ImportError(f"no stand-in for the module {wanted}") from None
