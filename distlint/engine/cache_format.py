"""How results and what they rest on are written to the file of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distlint.source.document import digest


@dataclass(frozen=True, slots=True)
class Node:
    """A file as a result has met it: its state if it was read, and where its imports led.

    ``settings`` are those of its folder, empty where they are the same as for the result. That the
    file is imported by others is a node of its own: few results rest on it.
    """

    path: str
    state: str | None
    settings: str
    answers: tuple[tuple[str, str | None], ...]
    importers: str | None = None
    """A digest of the files that import it, and of what they take from it."""


@dataclass(slots=True)
class Entry:
    """A result: the state of the file, the nodes it needs, the day that it was last of use."""

    content: str
    needs: int
    seen: int
    result: dict[str, Any]


DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


def text_of(identity: str, nodes: Iterable[Node], entries: Mapping[str, Entry]) -> str:
    """The text of a file: a digest, and the rest, with each path once."""
    import json

    paths: dict[str, int] = {}

    def numbered(path: str | None) -> int | None:
        return None if path is None else paths.setdefault(path, len(paths))

    rows = [
        [
            numbered(node.path),
            node.state,
            node.settings,
            {name: numbered(answer) for name, answer in node.answers},
            node.importers,
        ]
        for node in nodes
    ]
    files = {
        path: [entry.content, format(entry.needs, "x"), entry.seen, entry.result]
        for path, entry in entries.items()
    }
    content = {"identity": identity, "paths": list(paths), "nodes": rows, "files": files}
    text = json.dumps(content, separators=(",", ":"))
    return f"{digest(text.encode())}\n{text}"


def load(file: Path, identity: str) -> tuple[list[Node], dict[str, Entry]]:
    """What a file holds; nothing if it is damaged, or not for this identity."""
    import json

    try:
        mark, _, data = file.read_bytes().partition(b"\n")
        if digest(data).encode() != mark:
            return [], {}
        content = json.loads(data)
        if content["identity"] != identity:
            return [], {}
        paths: list[str] = [*content["paths"]]
        nodes = [
            Node(
                paths[path],
                state,
                settings,
                tuple((n, None if a is None else paths[a]) for n, a in answers.items()),
                importers,
            )
            for path, state, settings, answers, importers in content["nodes"]
        ]
        entries = {
            path: Entry(content, int(needs, 16), int(seen), dict(result))
            for path, (content, needs, seen, result) in content["files"].items()
        }
    except (OSError, *DAMAGE):
        return [], {}
    return nodes, entries
