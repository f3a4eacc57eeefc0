"""Trace one file: what each group of ranks does, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from distlint.engine import documents
from distlint.engine.check import Session
from distlint.engine.discovery import reason
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Resolver
from distlint.source.document import Document, DocumentError
from distlint.source.notebook import PYTHON, Notebook, relative
from distlint.source.paths import display
from distlint.source.trace import Trace


def trace_file(
    path: Path, function: str | None, ranks: Sequence[int] | None, resolver: Resolver
) -> list[Trace]:
    """The traces of a file's entry points, or of one function.

    Raises:
        ConfigError: if the file cannot be read or parsed, or has no such function or rank.
    """
    return trace_document(_read(path), function, ranks, Session(resolver))


def trace_document(
    document: Document, function: str | None, ranks: Sequence[int] | None, session: Session
) -> list[Trace]:
    """The same for a text that need not be saved.

    Raises:
        ConfigError: if it cannot be parsed, or has no such function or rank.
    """
    path = document.path
    from distlint.analyzer.ir.errors import ParseError
    from distlint.analyzer.symbolic.trace import trace

    project = session.project(session.resolver.of_file(path))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the traced code are for other tools
            found = trace(document, project, function, ranks)
            return [relative(document, each) for each in found]
    except ParseError as error:
        from distlint.engine.syntax import explain

        raise unreadable(path, explain(document, error)) from None
    except LookupError as error:
        if type(error) is not LookupError:  # a mistake of ours, not the user's
            raise
        raise ConfigError(f"{display(path)}: {error.args[0]}") from None


def _read(path: Path) -> Document:
    try:
        document = documents.read(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{display(path)}: {reason(error)}") from None
    except DocumentError as error:
        raise unreadable(path, error) from None
    if isinstance(document, Notebook) and document.language != PYTHON:
        raise ConfigError(f"{display(path)}: notebook language is {document.language}")
    return document


def unreadable(path: Path, error: DocumentError) -> ConfigError:
    """What is said of a file that is no Python."""
    return ConfigError(f"{display(path)}:{error.row}:{error.column}: {error.message}")
