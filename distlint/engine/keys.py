"""What is said about the keys of the configuration: in the help, the docs and the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from distlint.engine.config_file import MAX_RANKS
from distlint.engine.selection import ALL
from distlint.rules.table import FAMILIES, RESERVED
from distlint.source.finding import Severity

Schema = Mapping[str, object]

_STRING: Schema = {"type": "string"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_FLAG: Schema = {"type": "boolean"}
_SEVERITY: Schema = {"enum": [severity.value for severity in Severity]}
_SELECTOR: Schema = {"$ref": "#/definitions/selector"}
_SELECTORS: Schema = {"type": "array", "items": _SELECTOR}


@dataclass(frozen=True, slots=True)
class Key:
    """A key: meaning and default in Markdown, an example of a value in TOML, the JSON schema."""

    name: str
    default: str
    meaning: str
    example: str
    schema: Schema


KEYS = (
    Key(
        "select",
        "all rules not in preview",
        "Report these rules only.",
        '["DST1", "DST407"]',
        _SELECTORS,
    ),
    Key("extend-select", "", "Report these as well.", '["missing-drop-last"]', _SELECTORS),
    Key(
        "ignore",
        "",
        "Leave these out. The more specific selector wins.",
        '["DST108"]',
        _SELECTORS,
    ),
    Key(
        "extend-ignore",
        "",
        "Leave these out as well; adds up with a file that is extended.",
        '["DST109"]',
        _SELECTORS,
    ),
    Key(
        "per-file-ignores",
        "",
        "Patterns of paths, each with the rules to leave out there. A leading `!` means all other "
        "paths.",
        '{"tests/*" = ["DST101"]}',
        {"type": "object", "additionalProperties": _SELECTORS},
    ),
    Key(
        "preview",
        "`false`",
        "Report rules in preview, and findings that rest on what is possible and seldom so, such "
        "as a file that is there on one node only. A rule that is selected by its own code or "
        "name is reported anyway.",
        "true",
        _FLAG,
    ),
    Key(
        "severity",
        "",
        'Give rules another severity: `{DST108 = "info"}`.',
        '{DST108 = "info"}',
        {"type": "object", "additionalProperties": _SEVERITY},
    ),
    Key(
        "fail-on",
        '`"warning"`',
        "The least severity that makes the exit status 1.",
        '"error"',
        _SEVERITY,
    ),
    Key(
        "exclude",
        "[ruff's](https://docs.astral.sh/ruff/settings/#exclude)",
        "Patterns of paths to leave out, in the language of `.gitignore`.",
        '["third_party", "*.gen.py"]',
        _STRINGS,
    ),
    Key("extend-exclude", "", "More of them.", '["third_party"]', _STRINGS),
    Key(
        "src",
        "the project and its `src`",
        "Folders in which imports are looked up.",
        '["src", "lib"]',
        _STRINGS,
    ),
    Key(
        "world",
        "`[2, 2]`",
        "Nodes and processes per node of the model cluster.",
        "[1, 8]",
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": MAX_RANKS},
            "minItems": 2,
            "maxItems": 2,
        },
    ),
    Key(
        "catalogue",
        "",
        "TOML files of your own about functions that communicate, see "
        "[the catalogue](catalogue.md).",
        '["own.toml"]',
        _STRINGS,
    ),
    Key(
        "rules",
        "",
        "Rules of your own: Python files below the directory of this file, which `check`, `fix`, "
        "`trace` and editors run, or names under which installed packages offer some; see "
        "[rules of your own](own-rules.md) and [security](security.md).",
        "[]",
        _STRINGS,
    ),
    Key(
        "runtime",
        '`"distlint.runtime"`',
        "The module that fixes import from.",
        '"mypackage.ranks"',
        {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"},
    ),
    Key(
        "versions",
        "from the project's requirements",
        'Versions of libraries: `{torch = "2.4"}`.',
        '{torch = "2.4"}',
        {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": r"^\d+(\.\d+)*\S*$"},
        },
    ),
    Key("unsafe-fixes", "`false`", "Apply unsafe fixes as well.", "true", _FLAG),
    Key(
        "baseline",
        "",
        "A file of findings to pass over, see [adopting it](adopting.md).",
        '"distlint-baseline.json"',
        {"type": "string", "minLength": 1},
    ),
    Key(
        "cache-dir",
        "`.distlint_cache` in the project",
        "Where results are kept for the next run.",
        '".cache/distlint"',
        {"type": "string", "minLength": 1},
    ),
    Key(
        "max-file-size",
        "`2000000`",
        "Larger files are skipped (bytes; 0 lifts the limit).",
        "0",
        {"type": "integer", "minimum": 0},
    ),
    Key(
        "allow-env",
        "",
        "Environment variables of your own that are not to be reported as unknown.",
        '["NCCL_OFI_PROTOCOL"]',
        _STRINGS,
    ),
    Key(
        "extend",
        "",
        "Another configuration file that holds where this one says nothing; lists named "
        "`extend-` add up.",
        '"../distlint.toml"',
        {"type": "string", "minLength": 1},
    ),
)


def schema() -> dict[str, object]:
    """The JSON schema of a ``distlint.toml``, and of the table in a ``pyproject.toml``."""
    from distlint.catalogue.schema import TABLES

    rows = {"oneOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]}
    selectors = sorted({ALL, *FAMILIES, *RESERVED, *RESERVED.values()})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "distlint",
        "description": "The configuration of distlint: distlint.toml, or [tool.distlint].",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{key.name: {"description": key.meaning, **key.schema} for key in KEYS},
            **{name: {"description": _CATALOGUE, **rows} for name in ("aliases", *TABLES)},
        },
        "definitions": {
            "selector": {
                "description": "A code, a name, a prefix of codes, or ALL.",
                "anyOf": [{"enum": selectors}, {"type": "string", "minLength": 1}],
            }
        },
    }


_CATALOGUE = "Entries for the catalogue."
