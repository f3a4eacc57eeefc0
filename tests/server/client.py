"""An editor, as far as the server can tell: JSON over the server's standard input and output."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.server.forked import CAN_FORK, ForkedServer

PATIENCE = 60.0
"""Seconds to wait for what has to come; machines that run tests can be slow."""

RICH: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {"resolveSupport": {"properties": ["edit"]}},
    },
    "workspace": {
        "configuration": True,
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}

PROGRAM = Path(sys.executable).with_name("distlint")
"""As editors start it."""

Json = Any


class Editor:
    """Starts a server and talks to it.

    ``settings`` is what it answers when asked for settings, ``program`` what starts the
    server, if that is not to be forked, ``errors`` the file for what that says on standard error.
    """

    def __init__(
        self,
        *folders: Path,
        capabilities: Mapping[str, object] = RICH,
        options: Mapping[str, object] | None = None,
        settings: Callable[[str | None], object] = lambda scope: None,
        program: Sequence[str | Path] | None = None,
        errors: IO[bytes] | None = None,
    ) -> None:
        self.process: ForkedServer | subprocess.Popen[bytes] = (
            ForkedServer(folders[0])
            if program is None and CAN_FORK
            else subprocess.Popen(
                program or (PROGRAM, "server"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folders[0],
            )
        )
        self.settings = settings
        self.registered: list[Json] = []
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.refreshes = 0
        self.shown: list[Json] = []
        self.published: queue.Queue[Json] = queue.Queue()
        self.versions: dict[str, int] = {}
        self._answers: dict[int, queue.Queue[Json]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        self.server = self.request(
            "initialize",
            processId=None,
            rootUri=folders[0].as_uri(),
            capabilities=capabilities,
            workspaceFolders=named,
            initializationOptions=_patient({} if options is None else options),
        )["capabilities"]
        self.notify("initialized")

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.request("shutdown")
            self.notify("exit")
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()

    def request(self, method: str, **params: object) -> Json:
        return self.answer(self.ask(method, **params))

    def ask(self, method: str, **params: object) -> int:
        number = len(self._answers) + 1
        self._answers[number] = queue.Queue()
        self._send({"id": number, "method": method, "params": params})
        return number

    def answer(self, number: int) -> Json:
        message = self._answers[number].get(timeout=PATIENCE)
        assert "error" not in message, message["error"]
        return message["result"]

    def refusal(self, number: int) -> Json:
        """The error in place of an answer."""
        return self._answers[number].get(timeout=PATIENCE)["error"]

    def notify(self, method: str, **params: object) -> None:
        self._send({"method": method, "params": params})

    def open(self, path: Path, text: str | None = None, *, language: str = "python") -> None:
        self.versions[path.as_uri()] = 1
        self.notify(
            "textDocument/didOpen",
            textDocument={
                "uri": path.as_uri(),
                "languageId": language,
                "version": 1,
                "text": path.read_text("utf-8") if text is None else text,
            },
        )

    def open_notebook(self, path: Path, *sources: str) -> list[str]:
        """Shows a notebook with these cells; ``# `` marks text. The URIs of the cells."""
        self.versions[path.as_uri()] = 1
        names = [f"vscode-notebook-cell:{path}#{number}" for number in range(len(sources))]
        cells = list(zip(names, sources, strict=True))
        self.notify(
            "notebookDocument/didOpen",
            notebookDocument={
                "uri": path.as_uri(),
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [notebook_cell(name, source) for name, source in cells],
            },
            cellTextDocuments=[cell_text(name, source) for name, source in cells],
        )
        return names

    def change_notebook(self, path: Path, **cells: object) -> None:
        self.versions[path.as_uri()] += 1
        self.notify(
            "notebookDocument/didChange",
            notebookDocument={"uri": path.as_uri(), "version": self.versions[path.as_uri()]},
            change={"cells": cells},
        )

    def cell_diagnostics(self, count: int) -> dict[str, list[Json]]:
        """What the server says next about the cells of a notebook, so many of them."""
        found: dict[str, list[Json]] = {}
        while len(found) < count:
            told = self.published.get(timeout=PATIENCE)
            found[told["uri"]] = told["diagnostics"]
        return found

    def change(self, path: Path, text: str) -> None:
        self.change_parts(path, [{"text": text}])

    def change_parts(self, path: Path, changes: list[Json]) -> None:
        self.versions[path.as_uri()] += 1
        self.notify(
            "textDocument/didChange",
            textDocument={"uri": path.as_uri(), "version": self.versions[path.as_uri()]},
            contentChanges=changes,
        )

    def save(self, path: Path, text: str) -> None:
        self.change(path, text)
        path.write_text(text, "utf-8")
        self.notify("textDocument/didSave", textDocument={"uri": path.as_uri()})

    def diagnostics(self, path: Path, version: int | None = None) -> list[Json]:
        """What the server says next about the newest version of a file, or about another one."""
        while True:
            told = self.published.get(timeout=PATIENCE)
            wanted = self.versions[path.as_uri()] if version is None else version
            if told["uri"] == path.as_uri() and told.get("version") == wanted:
                found: list[Json] = told["diagnostics"]
                return found

    def actions(self, path: Path | str, diagnostics: list[Json], *only: str) -> list[Json]:
        context: dict[str, object] = {"diagnostics": diagnostics}
        if only:
            context["only"] = list(only)
        where = diagnostics[0]["range"] if diagnostics else _START
        found = self.request(
            "textDocument/codeAction", textDocument=_named(path), range=where, context=context
        )
        return list(found or ())

    def hover(self, path: Path | str, line: int, character: int) -> str:
        found = self.request(
            "textDocument/hover",
            textDocument=_named(path),
            position={"line": line, "character": character},
        )
        return str(found["contents"]["value"]) if found else ""

    def watchers(self) -> list[Json]:
        """What the server has asked to be told of."""
        wanted = [each for each in self.registered if "watchers" in each["registerOptions"]]
        return [watcher for each in wanted for watcher in each["registerOptions"]["watchers"]]

    def _send(self, message: Mapping[str, object]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._received(json.loads(stream.read(length)))

    def _received(self, message: Json) -> None:
        if "method" not in message:
            self._answers[message["id"]].put(message)
            return
        method, params = message["method"], message.get("params")
        result: object = None
        if method == "textDocument/publishDiagnostics":
            self.published.put(params)
        elif method == "window/showMessage":
            self.messages.append(params["message"])
        elif method == "window/logMessage":
            self.logged.append(params["message"])
        elif method == "client/registerCapability":
            self.registered += params["registrations"]
        elif method == "workspace/diagnostic/refresh":
            self.refreshes += 1
        elif method == "window/showDocument":
            self.shown.append(params)
            result = {"success": True}
        elif method == "workspace/configuration":
            result = [_patient(self.settings(item.get("scopeUri"))) for item in params["items"]]
        if "id" in message:
            self._send({"id": message["id"], "result": result})


_START = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def _patient(settings: object) -> object:
    """With whole analyses only, however slow the machine is, unless something else is set."""
    return {"patience": 1e9, **settings} if isinstance(settings, Mapping) else settings


def _named(path: Path | str) -> dict[str, str]:
    """A file, or a cell by its URI."""
    return {"uri": path if isinstance(path, str) else path.as_uri()}


def notebook_cell(uri: str, source: str) -> dict[str, object]:
    return {"kind": 1 if source.startswith("# ") else 2, "document": uri}


def cell_text(uri: str, source: str) -> dict[str, object]:
    language = "markdown" if source.startswith("# ") else "python"
    return {"uri": uri, "languageId": language, "version": 1, "text": source}


def edited(text: str, edits: list[Json]) -> str:
    """A text in ASCII with the server's edits, as an editor makes them."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(position: Json) -> int:
        return int(min(starts[position["line"]] + position["character"], len(text)))

    for edit in sorted(edits, key=lambda each: offset(each["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text
