"""Random sessions of an editor, after which it has to show what a fresh check would say.

A session opens, edits, saves and closes a script, what it imports and a notebook, changes files and
the configuration beside the editor, and asks questions in between. Whenever it waits, the
diagnostics of every open text have to be those of a fresh check of all these texts, the texts that
the server has have to be those of the editor, and nothing may have failed.
"""

from __future__ import annotations

import json
import queue
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import converters, types

from distlint.engine import documents
from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver
from distlint.server.columns import Columns
from distlint.server.open_files import Analysis
from distlint.server.translate import Translator
from distlint.source.document import Document, DocumentError
from tests.notebooks import notebook
from tests.server.client import RICH, Editor, notebook_cell
from tests.server.observed import PROCESS, TEXTS

ENCODINGS = ("utf-8", "utf-16", "utf-32")
PATIENCE = 60.0
"""Seconds until what is shown has to be right."""

TRAIN = """\
import torch
import torch.distributed as dist
import utils
from middle import meet, ready

dist.init_process_group("gloo")
x = torch.ones(1)
if utils.first():
    dist.all_reduce(x)
meet(x)
if ready("größe 😀") and dist.get_rank() == 0:
    dist.barrier()
dist.destroy_process_group()
"""
UTILS = """\
import torch.distributed as dist

def first():
    return True

def gather(x):
    dist.all_reduce(x)
"""
MIDDLE = """\
import torch.distributed as dist
from utils import first, gather
from pkg import deep

def meet(x):
    if first():
        gather(x)

def ready(name):
    return deep.decide(name)
"""
DEEP = """\
import torch.distributed as dist

def decide(name):
    return dist.get_rank() == 0
"""
FILES = {
    "train.py": TRAIN,
    "utils.py": UTILS,
    "middle.py": MIDDLE,
    "pkg/__init__.py": "",
    "pkg/deep.py": DEEP,
}
CELLS = (
    "# Training",
    'import torch.distributed as dist\nfrom utils import first\n\ndist.init_process_group("gloo")',
    "%matplotlib inline\nif first():\n    dist.barrier()",
    "if dist.get_rank() == 0:  # 😀\n    dist.barrier()",
    "%%writefile t.py\nimport torch.distributed as dist\nfrom utils import first\n\n"
    'dist.init_process_group("gloo")\nif first():\n    dist.barrier()\n',
    "%%writefile -a t.py\nif dist.get_rank() == 0:\n    dist.barrier()\n",
)
BOOK = "book.ipynb"

PIECES = (
    "dist.barrier()\n",
    "if dist.get_rank() == 0:\n    dist.barrier()\n",
    "if utils.first():\n    dist.all_reduce(x)\n",
    "    return dist.get_rank() == 0\n",
    "    return True\n",
    "y = '😀é' and dist.barrier()\n",
    "# größe \N{MATHEMATICAL FRAKTUR CAPITAL U}\n",
    "z = 1  # distlint: ignore[DST101]\n",
    "# distlint: file-ignore[DST101]\n",
    "import utils\n",
    "from utils import *\n",
    "from pkg.deep import decide as first\n",
    "def first():\n    return dist.get_rank() == 0\n",
    "def f(x=1):\n    dist.barrier()\n",
    "for _ in range(dist.get_rank()):\n    dist.barrier()\n",
    "with open('a') as f:\n    pass\n",
    "\x0c\n",
    "\u2028\x0b\x1c# one line\n",
    "x = 'a\x0cb'\n",
    "\n",
    "    ",
    "x = (\n",
    ")\n",
    "def (",
    "'''",
    "\\\n",
    "😀",
    "!ls\n",
    "%%time\n",
    "%%bash\n",
    "%%writefile t.py\n",
    "\r",
    "x",
)
CONFIGURATIONS = (
    None,
    'ignore = ["DST101"]\n',
    "preview = true\n",
    'extend-exclude = ["utils.py"]\n',
    "",
)

_NEWLINE = re.compile(r"\r\n|\r|\n")
_unstructure: Callable[[Any], Any] = converters.get_converter().unstructure


class Wrong(AssertionError):
    """The editor does not show what it should."""


@dataclass(slots=True)
class Cell:
    uri: str
    text: str
    version: int = 1

    @property
    def is_text(self) -> bool:
        return self.text.startswith("# ")


class Session:
    """One random session; ``log`` is what it has done."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.root = folder / "work"
        self.scratch = folder / "scratch"
        self.encoding = ENCODINGS[seed % len(ENCODINGS)]
        self.pulls = self.random.random() < 0.4
        self.watches = self.random.random() < 0.7
        where = "process" if seed % 2 else "thread"
        self.log: list[str] = [
            f"{self.encoding} pulls={self.pulls} watches={self.watches} in a {where}"
        ]
        self.texts: dict[str, str] = {}
        """The open files."""
        self.cells: list[Cell] | None = None
        self.shown: dict[str, list[Any]] = {}
        self.results: dict[str, str] = {}
        self.stale: set[str] = set()
        """Files to ask about again, in an editor that asks."""
        self.refreshes = 0
        self.count = 0
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        self.errors = (folder / "errors").open("w+b")
        in_process = [PROCESS] if seed % 2 else []
        self.editor = Editor(
            self.root,
            capabilities=self.capabilities(),
            options={
                "inlayHints": self.random.random() < 0.5,
                "patience": self.random.choice((0, 1e9)),  # it is told at once, or all together
            },
            program=(sys.executable, Path(__file__).with_name("observed.py"), *in_process),
            errors=self.errors,
        )

    def capabilities(self) -> dict[str, object]:
        found: dict[str, Any] = {
            **RICH,
            "general": {"positionEncodings": [self.encoding]},
            "textDocument": {**RICH["textDocument"]},
            "workspace": {**RICH["workspace"], "diagnostics": {"refreshSupport": True}},
        }
        if self.pulls:
            found["textDocument"]["diagnostic"] = {}
        if not self.watches:
            del found["workspace"]["didChangeWatchedFiles"]
        return found

    def run(self, steps: int, rounds: int) -> None:
        """So many steps between two looks at what is shown, and so many looks."""
        with self.errors, self.editor:
            self.open("train.py")
            for _ in range(rounds):
                for _ in range(steps):
                    self.step()
                    time.sleep(self.random.choice((0, 0, 0, 0.01, 0.05, 0.2)))
                if not self.watches:  # the next edit brings out what has changed on the disk
                    self.edit()
                self.look()
            self.settle_twice()
        self.no_failure()

    def settle_twice(self) -> None:
        """Nothing late may come and be wrong."""
        for name in self.texts:
            self.editor.hover(self.root / name, 0, 0)
        self.look()

    # ---- what an editor does

    def step(self) -> None:
        actions: list[tuple[Callable[[], None], int]] = [
            (self.edit, 10),
            (self.edit_cell, 5),
            (self.arrange_cells, 2),
            (self.open_another, 3),
            (self.close_one, 1),
            (self.save_one, 2),
            (self.reset_one, 6),
            (self.change_on_disk, 2),
            (self.change_configuration, 1),
            (self.ask_something, 3),
        ]
        (action,) = self.random.choices([a for a, _ in actions], [weight for _, weight in actions])
        action()

    def said(self, text: str) -> None:
        self.log.append(text)

    def open(self, name: str, text: str | None = None) -> None:
        path = self.root / name
        self.texts[name] = path.read_bytes().decode() if text is None else text
        self.said(f"open {name}")
        self.editor.open(path, self.texts[name])
        self.stale.add(name)

    def open_another(self) -> None:
        closed = [name for name in (*FILES, "fresh.py") if name not in self.texts]
        name = self.random.choice([*closed, BOOK])
        if name == BOOK:
            self.open_book()
        elif (self.root / name).exists():
            self.open(name)
        elif self.random.random() < 0.3:
            self.open(name, UTILS)

    def close_one(self) -> None:
        if self.cells is not None and self.random.random() < 0.2:
            self.said(f"close {BOOK}")
            self.editor.notify(
                "notebookDocument/didClose",
                notebookDocument={"uri": (self.root / BOOK).as_uri()},
                cellTextDocuments=[{"uri": cell.uri} for cell in self.cells],
            )
            self.cells = None
        elif self.texts:
            name = self.random.choice(sorted(self.texts))
            self.said(f"close {name}")
            self.editor.notify("textDocument/didClose", textDocument=self.named(name))
            del self.texts[name]
            self.shown.pop(name, None)
            self.results.pop(name, None)

    def save_one(self) -> None:
        if not self.texts:
            return
        name = self.random.choice(sorted(self.texts))
        self.said(f"save {name}")
        existed = (self.root / name).exists()
        (self.root / name).write_bytes(self.texts[name].encode())
        self.editor.notify("textDocument/didSave", textDocument=self.named(name))
        self.tell(name, 2 if existed else 1)

    def edit(self) -> None:
        if not self.texts:
            return
        name = self.random.choice(sorted(self.texts))
        self.texts[name], changes = self.changed(self.texts[name])
        self.said(f"edit {name}: {self.texts[name]!r}")
        self.send(name, changes)

    def reset_one(self) -> None:
        """Take all mistakes out again, in this or that newline."""
        if not self.texts:
            return
        name = self.random.choice(sorted(self.texts))
        newline = self.random.choice(("\n", "\n", "\r\n", "\r"))
        self.texts[name] = FILES.get(name, UTILS).replace("\n", newline)
        self.said(f"reset {name} with {newline!r}")
        self.send(name, [{"text": self.texts[name]}])

    def send(self, name: str, changes: list[dict[str, Any]]) -> None:
        self.editor.change_parts(self.root / name, changes)
        self.stale.add(name)

    def changed(self, text: str) -> tuple[str, list[dict[str, Any]]]:
        """Some changes of a text, each told as a range, or as all that there is now."""
        changes: list[dict[str, Any]] = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            start, end, piece = self.change_of(text)
            before, text = text, text[:start] + piece + text[end:]
            if self.random.random() < 0.3:
                changes.append({"text": text})
                continue
            at = {"start": self.position(before, start), "end": self.position(before, end)}
            if end == len(before) and self.random.random() < 0.2:  # beyond it, as some editors say
                at["end"] = {"line": len(_NEWLINE.split(before)), "character": 0}
            changes.append({"range": at, "text": piece})
        return text, changes

    def change_of(self, text: str) -> tuple[int, int, str]:
        """Where to put what; an editor never parts the characters of one end of a line."""
        bounds = [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]
        at = self.random.choice(bounds)
        if self.random.random() < 0.3:
            at = self.random.randint(0, len(text))
        end = at
        if self.random.random() < 0.5:
            end = min(len(text), at + self.random.randint(0, 60))
        while text[at - 1 : at + 1] == "\r\n":
            at -= 1
        while text[end - 1 : end + 1] == "\r\n":
            end += 1
        piece = self.random.choice(PIECES) if self.random.random() < 0.8 else ""
        if self.random.random() < 0.1:
            piece = piece.replace("\n", "\r\n")
        return at, end, piece

    def change_on_disk(self) -> None:
        """Another program writes, makes or deletes a file that is not open."""
        names = [name for name in (*FILES, "fresh.py") if name not in self.texts]
        if not names:
            return
        name = self.random.choice(names)
        path = self.root / name
        existed = path.exists()
        if existed and self.random.random() < 0.3:
            self.said(f"delete {name}")
            path.unlink()
            self.tell(name, 3)
            return
        start, end, piece = self.change_of(FILES.get(name, UTILS))
        text = FILES.get(name, UTILS)
        path.write_bytes((text[:start] + piece + text[end:]).encode())
        self.said(f"write {name}: {path.read_bytes()!r}")
        self.tell(name, 2 if existed else 1)

    def change_configuration(self) -> None:
        path = self.root / "distlint.toml"
        text = self.random.choice(CONFIGURATIONS)
        existed = path.exists()
        self.said(f"configure {text!r}")
        if text is not None:
            path.write_text(text)
            self.tell(path.name, 2 if existed else 1)
        elif existed:
            path.unlink()
            self.tell(path.name, 3)

    def tell(self, name: str, kind: int) -> None:
        if self.watches:
            change = {"uri": (self.root / name).as_uri(), "type": kind}
            self.editor.notify("workspace/didChangeWatchedFiles", changes=[change])

    def ask_something(self) -> None:
        """A question that is seldom waited for, and sometimes taken back."""
        uris = [(self.root / name).as_uri() for name in self.texts]
        uris += [cell.uri for cell in self.cells or ()]
        if not uris:
            return
        document = {"uri": self.random.choice(uris)}
        line = self.random.randint(0, 14)
        start, end = {"line": line, "character": 0}, {"line": line + 5, "character": 9}
        method, rest = self.random.choice(
            (
                ("hover", {"position": {"line": line, "character": self.random.randint(0, 20)}}),
                ("codeAction", {"range": {"start": start, "end": end}}),
                ("inlayHint", {"range": {"start": start, "end": end}}),
            )
        )
        if method == "codeAction":
            rest["context"] = {"diagnostics": []}  # type: ignore[dict-item]
        self.said(f"{method} {document['uri'].rpartition('/')[2]} {rest}")
        number = self.editor.ask(f"textDocument/{method}", textDocument=document, **rest)
        if self.random.random() < 0.4:
            self.editor.notify("$/cancelRequest", id=number)
        elif self.random.random() < 0.3:
            self.editor.answer(number)

    # ---- the notebook

    def open_book(self) -> None:
        if self.cells is not None:
            return
        self.said(f"open {BOOK}")
        self.cells = [self.new_cell(text) for text in CELLS]
        uri = (self.root / BOOK).as_uri()
        self.editor.versions[uri] = 1
        self.editor.notify(
            "notebookDocument/didOpen",
            notebookDocument={
                "uri": uri,
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [notebook_cell(cell.uri, cell.text) for cell in self.cells],
            },
            cellTextDocuments=[self.item(cell) for cell in self.cells],
        )

    def new_cell(self, text: str) -> Cell:
        self.count += 1
        return Cell(f"vscode-notebook-cell:{self.root / BOOK}#{self.count}", text)

    def item(self, cell: Cell) -> dict[str, object]:
        language = "markdown" if cell.is_text else "python"
        return {
            "uri": cell.uri,
            "languageId": language,
            "version": cell.version,
            "text": cell.text,
        }

    def edit_cell(self) -> None:
        cells = [cell for cell in self.cells or () if not cell.is_text]
        if not cells:
            return
        cell = self.random.choice(cells)
        if self.random.random() < 0.2:
            cell.text = self.random.choice(CELLS[1:])
            changes: list[dict[str, Any]] = [{"text": cell.text}]
        else:
            cell.text, changes = self.changed(cell.text)
        if cell.text.startswith("# "):  # which would be a cell of text for the checks here
            cell.text = "\n"
            changes.append({"text": "\n"})
        cell.version += 1
        self.said(f"edit cell {cell.uri.rpartition('#')[2]}: {cell.text!r}")
        content = {"document": {"uri": cell.uri, "version": cell.version}, "changes": changes}
        self.editor.change_notebook(self.root / BOOK, textContent=[content])

    def arrange_cells(self) -> None:
        if self.cells is None:
            return
        start = self.random.randint(0, len(self.cells))
        count = self.random.choice((0, 0, 1, 2))
        gone = self.cells[start : start + count]
        new = [self.new_cell(self.random.choice(CELLS)) for _ in range(self.random.randint(0, 2))]
        kept = [cell for cell in gone if self.random.random() < 0.5]  # moved
        after = [*new, *kept[::-1]]
        self.cells[start : start + count] = after
        self.said(f"cells {[cell.uri.rpartition('#')[2] for cell in self.cells]}")
        self.editor.change_notebook(
            self.root / BOOK,
            structure={
                "array": {
                    "start": start,
                    "deleteCount": len(gone),
                    "cells": [notebook_cell(cell.uri, cell.text) for cell in after],
                },
                "didOpen": [self.item(cell) for cell in new],
                "didClose": [{"uri": cell.uri} for cell in gone if cell not in kept],
            },
        )

    def position(self, text: str, offset: int) -> dict[str, int]:
        lines = _NEWLINE.split(text[:offset])
        return {"line": len(lines) - 1, "character": self.units(lines[-1])}

    def units(self, text: str) -> int:
        size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[self.encoding]
        name = self.encoding if self.encoding == "utf-8" else f"{self.encoding}-le"
        return len(text.encode(name)) // size

    # ---- what it shows

    def look(self) -> None:
        """Wait until all is shown as it should be."""
        expected = self.expected()
        deadline = time.monotonic() + PATIENCE
        while self.current() != expected:
            if time.monotonic() > deadline:
                raise Wrong(self.difference(expected))
            self.take_news(0.05)
        told = self.editor.request(TEXTS)
        if told != self.own_texts():
            raise Wrong(f"the server has other texts: {told} and not {self.own_texts()}")
        self.no_failure()

    def no_failure(self) -> None:
        if self.editor.messages or self.editor.logged:
            raise Wrong(f"said: {self.editor.messages} {self.editor.logged}")
        said = (self.root.parent / "errors").read_text("utf-8", "replace")
        if said:
            raise Wrong(f"on standard error: {said}")

    def own_texts(self) -> dict[str, Any]:
        found: dict[str, Any] = {str(self.root / name): text for name, text in self.texts.items()}
        if self.cells is not None:
            numbered = enumerate(self.cells, 1)
            told = [[number, cell.text] for number, cell in numbered if not cell.is_text]
            found[str(self.root / BOOK)] = told
        return found

    def take_news(self, wait: float) -> None:
        try:
            while True:
                told = self.editor.published.get(timeout=wait)
                self.shown[told["uri"]] = told["diagnostics"]
                wait = 0.0
        except queue.Empty:
            pass
        if self.pulls:
            self.pull()

    def pull(self) -> None:
        if self.editor.refreshes != self.refreshes:
            self.refreshes = self.editor.refreshes
            self.stale = set(self.texts)
        for name in self.stale & self.texts.keys():
            uri = (self.root / name).as_uri()
            report = self.editor.request(
                "textDocument/diagnostic",
                textDocument={"uri": uri},
                previousResultId=self.results.get(name),
            )
            if report["kind"] == "full":
                self.shown[uri] = report["items"]
                self.results[name] = report.get("resultId")
        self.stale.clear()

    def current(self) -> dict[str, list[Any]]:
        self.take_news(0)
        uris = [(self.root / name).as_uri() for name in self.texts]
        uris += [cell.uri for cell in self.cells or ()]
        return {uri: [_comparable(each) for each in self.shown.get(uri, [])] for uri in uris}

    def expected(self) -> dict[str, list[Any]]:
        """What a check of all texts says that has never seen any of them."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        shutil.copytree(self.root, self.scratch)
        for name, text in self.texts.items():
            (self.scratch / name).write_bytes(text.encode())
        if self.cells is not None:
            cells = [self.saved(cell) for cell in self.cells]
            (self.scratch / BOOK).write_text(notebook(*cells), encoding="utf-8")
        return dict(self.expected_of_files()) | dict(self.expected_of_cells())

    def saved(self, cell: Cell) -> Any:
        if cell.is_text:
            return {"cell_type": "markdown", "metadata": {}, "source": cell.text}
        return {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.text}

    def expected_of_files(self) -> Iterator[tuple[str, list[Any]]]:
        for name, text in self.texts.items():
            found = self.checked(name, 0)
            for each in found:
                self.is_inside(each["range"], text)
            yield (self.root / name).as_uri(), found

    def expected_of_cells(self) -> Iterator[tuple[str, list[Any]]]:
        for number, cell in enumerate(self.cells or (), 1):
            found = self.checked(BOOK, number)
            for each in found:
                self.is_inside(each["range"], cell.text)
            yield cell.uri, found

    def is_inside(self, where: Any, text: str) -> None:
        lines = _NEWLINE.split(text)
        for position in (where["start"], where["end"]):
            line, character = position["line"], position["character"]
            inside = line < len(lines) and character <= self.units(lines[line]) + 1
            if not inside and (line, character) != (len(lines), 0):
                raise Wrong(f"{where} is not in {text!r}")

    def checked(self, name: str, cell: int) -> list[Any]:
        path = self.scratch / name
        resolver = Resolver(cwd=self.scratch)
        report = check_paths([path], resolver, jobs=1, force_exclude=True)
        failed = [notice for notice in report.notices if notice.kind == "failed"]
        if failed:
            raise Wrong(f"{failed[0].message}\n{failed[0].detail}")
        try:
            document = documents.read(path)
        except DocumentError:
            document = Document(path, b"", path.read_bytes().decode(), "utf-8", "\n")
        analysis = Analysis(document, 0, None, None, report.listed, report.notices)
        translator = Translator(Columns(self.encoding), self.uri_of, documents.read, related=True)
        found = translator.diagnostics(analysis, True, cell)
        return [self.comparable_of(each) for each in found]

    def comparable_of(self, diagnostic: types.Diagnostic) -> Any:
        text = json.dumps(_unstructure(diagnostic)).replace(str(self.scratch), str(self.root))
        return _comparable(json.loads(text))

    def uri_of(self, path: Path, cell: int) -> str:
        if cell and self.cells is not None:
            return self.cells[cell - 1].uri
        return (self.root / path.relative_to(self.scratch)).as_uri()

    def named(self, name: str) -> dict[str, str]:
        return {"uri": (self.root / name).as_uri()}

    def difference(self, expected: dict[str, list[Any]]) -> str:
        parts = []
        for uri, current in self.current().items():
            if current != expected.get(uri):
                parts.append(f"{uri}\n  shown:    {current}\n  expected: {expected.get(uri)}")
        return "\n".join(parts)


def _comparable(diagnostic: Any) -> Any:
    """A diagnostic without the version of the text, and without what is null."""
    data = {key: each for key, each in diagnostic["data"].items() if key != "version"}
    found = {key: each for key, each in diagnostic.items() if each is not None}
    return {**found, "data": data}


def run(seed: int, steps: int, rounds: int) -> None:
    """One session.

    Raises:
        Wrong: with all that was done, when something is not shown as it should be.
    """
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder).resolve(), seed)
        try:
            session.run(steps, rounds)
        except (Exception, AssertionError) as error:
            done = "\n".join(session.log)
            raise Wrong(f"seed {seed}:\n{done}\n{type(error).__name__}: {error}") from error
