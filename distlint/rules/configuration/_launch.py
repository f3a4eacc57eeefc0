"""Launch lines: which launcher, with which options, starts which script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from distlint.catalogue.settings import launcher_options
from distlint.rules.settings import Page
from distlint.source.numbers import whole_number
from distlint.source.settings.shell import Command, Piece, Setting, Word, read

Launcher = Literal["torchrun", "launch", "accelerate", "deepspeed"]

_WRAPPERS = frozenset(
    "srun mpirun mpiexec nohup time timeout sudo exec numactl nsys ncu uv poetry pipenv conda nice"
    " taskset stdbuf command setsid singularity apptainer ibrun jsrun aprun".split()
)
_SHELLS = frozenset({"bash", "sh", "zsh"})
_READS_LINES = frozenset({"eval", "ssh", "pdsh", "clush", "parallel-ssh", "pssh"})
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*$")
_SEVERAL = re.compile(r'"?\$(?:@|\{@|\{\w+\[[@*]\]\})')
"""What becomes any number of words, also in quotes: the arguments of a script, or an array."""

_MODULES: dict[str, Launcher] = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "launch",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}


LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0")
"""Addresses of the machine itself."""

_NODES = ("nnodes", "num_nodes", "num_machines")
_PORTS = ("master_port", "main_process_port", "rdzv_endpoint")


@dataclass(slots=True)
class Launch:
    """One launch line.

    ``options`` has the value of each option by its name with underscores; None for one that is
    a flag or only known at run time. ``complete`` is False when an expansion may hold more options.
    """

    launcher: Launcher
    command: Command
    first: Word
    options: dict[str, Word | None] = field(default_factory=dict)
    words: dict[str, Word] = field(default_factory=dict)
    unknown: list[Word] = field(default_factory=list)
    script: Word | None = None
    arguments: tuple[Word, ...] = ()
    complete: bool = True
    outer: Command | None = None
    """The command that runs the line by a shell: ``srun bash -c "torchrun ..."``."""

    def text(self, option: str) -> str | None:
        word = self.options.get(option)
        return word.text if word is not None else None

    def number(self, option: str) -> int | None:
        text = self.text(option)
        return whole_number(text) if text is not None and text.isdecimal() else None

    def bounds(self, option: str) -> tuple[int, int]:
        """The option with its value."""
        word, value = self.words[option], self.options.get(option)
        return word.start, value.end if value is not None and value.end > word.end else word.end

    def argument(self, *names: str) -> Word | None:
        """The value of an option of the script; another of the names may be a flag."""
        for index, word in enumerate(self.arguments):
            name, equals, value = word.raw.partition("=")
            if name.replace("-", "_").lstrip("_") in names and word.raw.startswith("--"):
                if equals:
                    return Word(value if "$" not in value else None, word.start, word.end, word.raw)
                following = self.arguments[index + 1 : index + 2]
                if following and not following[0].raw.startswith("--"):  # else it is a flag
                    return following[0]
        return None

    @property
    def wrapper(self) -> str | None:
        """The command that starts the launcher, such as ``srun``."""
        word = (self.outer or self.command).words[0]
        return word.text if word is not self.first else None


def launches(page: Page) -> Iterator[Launch]:
    """The launch lines of a document, also in what its commands give to a shell."""
    for command in page.sheet.script.commands:
        found = launch_of(command)
        if found is not None:
            yield found
            continue
        for word in _texts_in(command):
            for inner in _commands_in(command, word):
                found = launch_of(inner)
                if found is not None:
                    found.outer = command
                    yield found


def _texts_in(command: Command) -> Iterator[Word]:
    """The words of a command that a shell reads as lines, here or on another machine."""
    names = [(word.text or "").rpartition("/")[2] for word in command.words]
    if names[0] in _READS_LINES:
        yield from (word for word in command.words[1:] if " " in (word.text or "").strip())
        return
    for index, name in enumerate(names):
        if name in _SHELLS and index + 2 < len(names) and _is_for_text(names[index + 1]):
            yield command.words[index + 2]
            return


def _is_for_text(option: str) -> bool:
    """``-c``, also ``-lc``."""
    return option.startswith("-") and not option.startswith("--") and option.endswith("c")


def _commands_in(command: Command, word: Word) -> Iterator[Command]:
    """The commands in a word; their words have its place unless they stand in it as they are."""
    text = word.text or ""
    outside = (*command.given, *command.environment)
    is_plain = word.raw[1:-1] == text and word.end - word.start == len(word.raw)
    start = word.start + 1 if is_plain else 0
    piece = Piece(text, tuple(range(start, start + len(text) + 1)))
    for inner in read(piece, outside).commands:
        if is_plain:
            yield inner
            continue
        words = tuple(
            replace(each, start=word.start, end=word.end, expanded=True) for each in inner.words
        )
        yield replace(inner, words=words, start=word.start, end=word.end)


def launches_in_shell(page: Page, command: Command) -> Iterator[tuple[Launch, Word]]:
    """The launch lines of what a command runs by a shell, each with the word that names it.

    ``srun bash -c "torchrun ..."``, ``srun bash run.sh`` and ``srun ./run.sh``.
    """
    for word, text in _shell_of(page, command):
        for inner in read(Piece.whole(text)).commands:
            found = launch_of(inner)
            if found is not None:
                yield found, word


def _shell_of(page: Page, command: Command) -> Iterator[tuple[Word, str]]:
    """What a shell is given in a command: a text, or a script beside the document."""
    is_for_shell, is_text = False, False
    for word in command.words[1:]:
        text = word.text
        if text is None:
            return
        if is_text:
            yield word, text
            return
        if text.endswith((".sh", ".bash")) and (is_for_shell or text.startswith(("./", "/"))):
            content = page.text_of(text)
            if content is not None:
                yield word, content
            return
        if is_for_shell and text.startswith("-"):
            is_text = _is_for_text(text)
        elif is_for_shell:
            return
        is_for_shell = is_for_shell or text.rpartition("/")[2] in _SHELLS


def launch_of(command: Command) -> Launch | None:
    """The launch that a command is, also with a wrapper around it."""
    words = command.words
    wrapped = (words[0].text or "").rpartition("/")[2] in _WRAPPERS
    for index, word in enumerate(words):
        found = _starts(words, index)
        if found is not None:
            launcher, count = found
            launch = Launch(launcher, command, word)
            _read_options(launch, words[index + count :])
            return launch
        if not wrapped:
            return None
    return None


def _starts(words: tuple[Word, ...], index: int) -> tuple[Launcher, int] | None:
    """Which launcher begins at a word, and how many words that takes."""
    text = words[index].text
    if text is None:
        return None
    following = [word.text for word in words[index + 1 : index + 4]]
    name = text.rpartition("/")[2]
    if name == "torchrun":
        return "torchrun", 1
    if name == "deepspeed":
        return "deepspeed", 1
    if name == "accelerate" and following[:1] == ["launch"]:
        return "accelerate", 2
    if name in ("accelerate-launch",):
        return "accelerate", 1
    if _PYTHON.match(text):
        for skipped in (0, 1):  # python -u -m ...
            if following[skipped : skipped + 1] == ["-m"] and len(following) > skipped + 1:
                module = following[skipped + 1]
                if module in _MODULES:
                    return _MODULES[module], 3 + skipped
    return None


def _read_options(launch: Launch, words: tuple[Word, ...]) -> None:
    known = launcher_options(launch.launcher)
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        name, equals, value = (word.raw if word.text is None else word.text).partition("=")
        if not name.startswith("-") or "$" in name:
            if word.splits or (word.text is None and _SEVERAL.match(word.raw)):
                launch.complete = False
                if word.raw.strip('"{}').startswith(("$@", "$*")):
                    return
                continue
            launch.script = word
            launch.arguments = words[index:]
            return
        option = _option(name, known)
        if option is None:
            launch.unknown.append(word)
            return  # what follows may be its value
        canonical = option.lstrip("-").replace("-", "_")
        canonical = {"m": "module", "h": "help"}.get(canonical, canonical)
        launch.words[canonical] = word
        launch.options[canonical] = None
        if equals:
            inside = word.raw.startswith(f"{name}=") and not word.expanded
            at = word.start + len(name) + 1 if inside else word.start
            known_value = None if word.text is None else value
            launch.options[canonical] = Word(known_value, at, word.end, value)
            continue
        count = known[option]
        if count == "1" and index < len(words):
            launch.options[canonical] = words[index]
            if words[index].splits:
                launch.complete = False
            index += 1
        elif count in ("?", "*", "+"):
            while index < len(words) and not words[index].raw.startswith("-"):
                launch.options[canonical] = words[index]
                index += 1
                if count == "?":
                    break


def _option(name: str, known: dict[str, str] | object) -> str | None:
    """The option that argparse takes a word for: itself, or the only one that begins with it."""
    assert isinstance(known, dict)
    if name in known:
        return name
    if not name.startswith("--"):
        short = name[:2]
        return short if short in known and len(name) > 2 else None
    begun = {each.replace("-", "_"): each for each in known if each.startswith(name)}
    return next(iter(begun.values())) if len(begun) == 1 else "--help" if begun else None


def in_force(launch: Launch, name: str) -> Setting | None:
    """The variable as a launch line gets it: given with it, or exported before for certain."""
    for setting in (*launch.command.given, *launch.command.environment):
        if setting.name == name and (setting.always or setting.form in ("prefix", "env")):
            return setting
    return None


def fixed_ports(page: Page) -> Iterator[tuple[int, int]]:
    """Where launch lines for one machine name the port that its processes meet at."""
    for launch in launches(page):
        nodes = [option for option in _NODES if option in launch.words]
        if any(launch.number(option) != 1 for option in nodes) or "node_rank" in launch.words:
            continue
        for option in _PORTS:
            text = launch.text(option)
            host, colon, port = text.rpartition(":") if text is not None else ("", "", "")
            if colon and host not in LOCAL:
                continue
            if port.isdecimal() and whole_number(port):
                yield launch.bounds(option)
                break


def script_text(page: Page, launch: Launch) -> str | None:
    """The script that is started, where it can be found."""
    word = launch.script
    if word is None or word.text is None or not word.text.endswith(".py"):
        return None
    return page.text_of(word.text)
