"""What the code at one place of a generated script can refer to, and the conditions made of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

Lines = list[str]


def indent(lines: Iterable[str]) -> Lines:
    """Move lines one level in."""
    return [f"    {line}" if line else "" for line in lines] or ["    pass"]


def block(header: str, body: Iterable[str]) -> Lines:
    """Write a compound statement with one arm."""
    return [f"{header}:", *indent(body)]


@dataclass(frozen=True)
class GroupName:
    """A variable that holds a process group of known ranks."""

    name: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Helper:
    """A function of the script that can be called."""

    name: str
    parameters: tuple[str, ...]
    """Their kinds: ``flag``, ``rank``, ``args``."""
    returns: bool
    """The call gives a truth value."""


@dataclass
class Script:
    """The parts of the script that is being written."""

    rng: random.Random
    rank_weight: float = 1.0
    local_weight: float = 1.0
    definitions: dict[str, Lines] = field(default_factory=dict)
    """Functions and classes at module level, by name."""
    numbers: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """Make up a name that is not taken."""
        number = self.numbers.get(stem, 0)
        self.numbers[stem] = number + 1
        return f"{stem}{number}" if number else stem

    def define(self, name: str, lines: Sequence[str]) -> None:
        """Add a function or class at module level."""
        self.definitions.setdefault(name, list(lines))


RANK_TESTS = (
    "{r} == 0",
    "{r} == 0",
    "{r} != 0",
    "{r} != 0",
    "not {r}",
    "{r} > 0",
    "{r} % 2 == 0",
    "{r} % 2",
    "{r} < 2",
    "{r} >= 2",
    "{r} == 1",
    "{r} in (0, 1)",
    "{r} not in [0, 2]",
    "{r} // 2 == 0",
    "{r} == {w} - 1",
    "0 == {r}",
    "{r} <= 0",
    "{l} == 0",
    "{l} == 0",
    "{l} != 0",
    "not {l}",
    "{l} in (-1, 0)",
)

MEMBERSHIP_TESTS: dict[tuple[int, ...], tuple[str, ...]] = {
    (0, 1): ("{r} < 2", "{r} in (0, 1)", "{r} in [0, 1]", "{r} // 2 == 0", "not {r} >= 2"),
    (2, 3): ("{r} >= 2", "{r} in (2, 3)", "{r} not in (0, 1)"),
    (0, 2): ("{r} % 2 == 0", "{l} == 0", "{r} in [0, 2]", "not {l}"),
    (1, 3): ("{r} % 2", "{l} != 0", "{r} in (1, 3)"),
    (0, 1, 2): ("{r} < 3", "{r} != 3", "{r} != {w} - 1"),
}

UNIFORM_NAMES = ("resume", "use_ema", "verbose", "final_eval")
TOPICS = ('"profile"', '"sync"')


@dataclass
class Scope:
    """One function body, or the module level."""

    script: Script
    rank: str
    local_rank: str
    world_size: str
    main: tuple[str, ...]
    """Expressions that are true on rank 0 alone."""
    settings: tuple[str, ...]
    """Patterns that read a named uniform unknown, such as ``args.{}``."""
    lists: str
    """The pattern for iterables and counts; empty where there are none."""
    tensor: str
    groups: tuple[GroupName, ...] = ()
    helpers: tuple[Helper, ...] = ()
    flags: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    """Loop variables that hold an item of an unknown list."""
    loop: bool = False
    function: bool = False
    """``return`` is allowed."""
    answers: bool = False
    """``return`` gives a truth value."""
    trying: bool = False

    @property
    def rng(self) -> random.Random:
        return self.script.rng

    def within(self, **changes: object) -> Scope:
        """Give the scope of an inner statement."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def fill(self, pattern: str) -> str:
        """Put this scope's names for rank and world into a pattern."""
        return pattern.format(r=self.rank, l=self.local_rank, w=self.world_size)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # Conditions.

    def on_main(self) -> str:
        """Write a test for rank 0."""
        patterns = ["{r} == 0", "not {r}", *self.main, *self.main]
        return self.fill(self.rng.choice(patterns))

    def not_main(self) -> str:
        """Write a test for all ranks but 0."""
        patterns = ["{r} != 0", "{r} > 0", *(f"not {each}" for each in self.main)]
        return self.fill(self.rng.choice(patterns))

    def rank_test(self) -> str:
        """Write a condition that depends on the rank alone."""
        if self.main and self.chance(0.25):
            return self.on_main() if self.chance(0.6) else self.not_main()
        return self.fill(self.rng.choice(RANK_TESTS))

    def member_test(self, group: GroupName) -> str:
        """Write a condition that holds on the members of a group."""
        return self.fill(self.rng.choice(MEMBERSHIP_TESTS[group.ranks]))

    def setting(self, name: str) -> str:
        """Read a named uniform unknown."""
        return self.rng.choice(self.settings).format(name)

    def uniform_test(self) -> str:
        """Write a condition that is unknown but the same on all ranks."""
        kind = self.rng.random()
        if kind < 0.7 or self.trying:  # inside ``try`` an opaque call is a different matter
            text = self.setting(self.rng.choice(UNIFORM_NAMES))
        elif kind < 0.9:
            text = f"enabled({self.rng.choice((*TOPICS, *self.items, *self.items))})"
        elif kind < 0.95 and self.lists:
            text = f'{self.lists.format("mode")} == "train"'
        else:
            text = self.fill(self.rng.choice(("{w} > 1", "dist.is_initialized()")))
        return f"not {text}" if self.chance(0.2) and "==" not in text and ">" not in text else text

    def local_test(self) -> str:
        """Write a condition that may differ by rank without being about the rank."""
        if self.chance(0.5):
            return self.rng.choice(("random.random() < 0.5", "random.random() > 0.9"))
        return self.rng.choice(("time.time() > DEADLINE", "time.time() - START > 600"))

    def test(self, depth: int = 0) -> str:
        """Write any condition."""
        script = self.script
        kinds: list[tuple[float, str]] = [
            (4.0 * script.rank_weight, "rank"),
            (3.0, "uniform"),
            (1.2 * script.local_weight, "local"),
            (1.2 if self.flags else 0.0, "flag"),
            (0.5 if self.indexes else 0.0, "index"),
            (1.0 if depth == 0 else 0.0, "compound"),
            (0.7 if depth == 0 and any(h.returns for h in self.helpers) else 0.0, "helper"),
        ]
        weights = [weight for weight, _ in kinds]
        match self.rng.choices([kind for _, kind in kinds], weights)[0]:
            case "rank":
                return self.rank_test()
            case "uniform":
                return self.uniform_test()
            case "local":
                return self.local_test()
            case "flag":
                flag = self.rng.choice(self.flags)
                return f"not {flag}" if self.chance(0.35) else flag
            case "index":
                index = self.rng.choice(self.indexes)
                return self.rng.choice((f"{index} == 0", f"{index} > 0", f"{index} % 2 == 0"))
            case "helper":
                helper = self.rng.choice([each for each in self.helpers if each.returns])
                return self.call(helper)
            case _:
                operator = self.rng.choice((" and ", " and ", " or "))
                parts = [self.test(1), self.test(1)]
                return operator.join(f"({part})" if " or " in part else part for part in parts)

    def call(self, helper: Helper) -> str:
        """Write a call of one of the script's functions."""
        arguments = []
        for number, kind in enumerate(helper.parameters):
            match kind:
                case "flag":
                    value = self.test(1)
                    # A truth value, as a caller of a function with a flag would pass.
                    text = value if _is_boolean(value) else f"bool({value})"
                    named = number == len(helper.parameters) - 1 and self.chance(0.3)
                    arguments.append(f"flag={text}" if named else text)
                case "rank":
                    arguments.append(self.rank)
                case _:
                    arguments.append("args")
        return f"{helper.name}({', '.join(arguments)})"


def _is_boolean(text: str) -> bool:
    return " % 2" not in text or "==" in text
