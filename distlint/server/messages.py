"""Messages that the editor shows to its user, each once."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from distlint.server.client import Client
from distlint.server.engines import Failure
from distlint.server.open_files import Analysis


class Messages:
    """What was said already is not said again until that is forgotten."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._errors: set[str] = set()
        self._informed: set[str] = set()

    def report(self, analysis: Analysis) -> None:
        """A configuration that cannot be used, or a failure of ours."""
        if analysis.problem:
            self.error(analysis.problem)
        for notice in analysis.notices:
            text = f"{notice.path}: {notice.message}" if notice.path else notice.message
            if notice.kind == "failed" and text not in self._errors:
                self.error(text)
                self._client.log(notice.detail)

    def failed(self, path: Path, error: Exception) -> None:
        """An analysis ended with an exception."""
        failure = error if isinstance(error, Failure) else Failure.of(error)
        self.error(f"{path}: internal error: {failure.kind}: {failure}")
        self._client.log(failure.detail)

    def error(self, text: str) -> None:
        if text not in self._errors:
            self._errors.add(text)
            self._client.show(types.MessageType.Error, f"distlint: {text}")

    def info(self, text: str) -> None:
        if text not in self._informed:
            self._informed.add(text)
            self._client.show(types.MessageType.Info, f"distlint: {text}")

    def forget_errors(self) -> None:
        """Settings have changed: what is still wrong is worth another message."""
        self._errors.clear()
