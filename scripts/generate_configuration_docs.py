"""Write the table of keys and the JSON schema. With --check, say whether they are up to date."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from distlint.engine.keys import KEYS, schema

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "configuration.md"
SCHEMA = DOCS / "distlint.schema.json"

_TABLE = re.compile(r"^\| key \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def wanted() -> dict[Path, str]:
    """What the files are to hold."""
    rows = [f"| `{key.name}` | {key.default} | {key.meaning} |" for key in KEYS]
    table = "\n".join(["| key | default | meaning |", "| --- | --- | --- |", *rows])
    page = _TABLE.sub(lambda _: table.replace("|  |", "| |"), PAGE.read_text(encoding="utf-8"))
    return {PAGE: page, SCHEMA: json.dumps(schema(), indent=2) + "\n"}


def differences() -> list[Path]:
    """The files that are out of date."""
    return [
        path
        for path, text in wanted().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main() -> int:
    stale = differences()
    if "--check" in sys.argv[1:]:
        print("\n".join(f"{path} is out of date" for path in stale) or "up to date")
        return 1 if stale else 0
    texts = wanted()
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
