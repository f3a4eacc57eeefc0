"""Whether a file that is no Python is a template that Python is made from."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

from distlint.source.nesting import examine

_HOLE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)


def is_template_of_python(text: str, path: Path) -> bool:
    """Is it Python with holes, ``{{ name }}``, or tags, ``{% if x %}``, as cookiecutter fills in?

    Asked of what cannot be parsed: braces in a string beside an error make no template, so the
    text has to be Python once it is filled in, unless the path itself has holes.
    """
    if any("{{" in part for part in path.parts):
        return True
    filled = _TAG.sub("", _HOLE.sub("hole", text))
    return filled != text and _parses(filled)


def _parses(text: str) -> bool:
    if examine(text).excess is not None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
