"""Notebooks in the layout that Jupyter writes."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def code(text: str, **more: object) -> Json:
    output = {"name": "stdout", "output_type": "stream", "text": ["größe\n"]}
    cell: Json = {
        "cell_type": "code",
        "execution_count": 7,
        "metadata": {"tags": ["keep"]},
        "outputs": [output],
        "source": text.splitlines(keepends=True),
    }
    return {**cell, **more}


def markdown(source: str) -> Json:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def notebook(*cells: str | Json, language: str = "python", indent: int | None = 1) -> str:
    content = {
        "cells": [code(cell) if isinstance(cell, str) else cell for cell in cells],
        "metadata": {"language_info": {"name": language}, "widgets": {"a": 1.0}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=indent, ensure_ascii=False) + "\n"


def sources(text: str) -> list[str]:
    """The sources of the cells of a notebook."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
