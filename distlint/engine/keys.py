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
        "Enable only these rules.",
        '["DST1", "DST407"]',
        _SELECTORS,
    ),
    Key(
        "extend-select", "", "Enable these rules in addition.", '["missing-drop-last"]', _SELECTORS
    ),
    Key(
        "ignore",
        "",
        "Ignore these rules. The more specific selector takes precedence.",
        '["DST108"]',
        _SELECTORS,
    ),
    Key(
        "extend-ignore",
        "",
        "Ignore these rules in addition; merged with `extend-ignore` of an extended configuration.",
        '["DST109"]',
        _SELECTORS,
    ),
    Key(
        "per-file-ignores",
        "",
        "Path patterns, each with the rules to ignore in matching files. A pattern with a leading "
        "`!` applies to all files that do not match.",
        '{"tests/*" = ["DST101"]}',
        {"type": "object", "additionalProperties": _SELECTORS},
    ),
    Key(
        "preview",
        "`false`",
        "Enable rules in preview, and findings that assume rare conditions, such as a file that "
        "exists on one node only. A rule that is selected by its code or name is enabled in any "
        "case.",
        "true",
        _FLAG,
    ),
    Key(
        "severity",
        "",
        'Override the severity of rules: `{DST108 = "info"}`.',
        '{DST108 = "info"}',
        {"type": "object", "additionalProperties": _SEVERITY},
    ),
    Key(
        "fail-on",
        '`"warning"`',
        "Minimum severity for exit status 1.",
        '"error"',
        _SEVERITY,
    ),
    Key(
        "exclude",
        "[ruff's](https://docs.astral.sh/ruff/settings/#exclude)",
        "Paths to exclude, as `.gitignore` patterns.",
        '["third_party", "*.gen.py"]',
        _STRINGS,
    ),
    Key(
        "extend-exclude",
        "",
        "Paths to exclude, in addition to `exclude`.",
        '["third_party"]',
        _STRINGS,
    ),
    Key(
        "src",
        "the project root and its `src`",
        "Directories in which imports are resolved.",
        '["src", "lib"]',
        _STRINGS,
    ),
    Key(
        "world",
        "`[2, 2]`",
        "Number of nodes, and processes per node, of the simulated cluster.",
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
        "TOML files that describe your own functions that communicate, see "
        "[the catalogue](catalogue.md).",
        '["own.toml"]',
        _STRINGS,
    ),
    Key(
        "rules",
        "",
        "Custom rules: Python files in the directory of this file or below, which `check`, `fix`, "
        "`trace` and editors execute, or names of entry points of installed packages; see "
        "[custom rules](own-rules.md) and [security](security.md).",
        "[]",
        _STRINGS,
    ),
    Key(
        "runtime",
        '`"distlint.runtime"`',
        "Module from which fixes import utilities.",
        '"mypackage.ranks"',
        {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"},
    ),
    Key(
        "versions",
        "from the requirements of the project",
        'Library versions to assume: `{torch = "2.4"}`.',
        '{torch = "2.4"}',
        {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": r"^\d+(\.\d+)*\S*$"},
        },
    ),
    Key("unsafe-fixes", "`false`", "Apply unsafe fixes, too.", "true", _FLAG),
    Key(
        "baseline",
        "",
        "Baseline file with findings to ignore, see [adopting distlint](adopting.md).",
        '"distlint-baseline.json"',
        {"type": "string", "minLength": 1},
    ),
    Key(
        "cache-dir",
        "`.distlint_cache` in the project",
        "Cache directory.",
        '".cache/distlint"',
        {"type": "string", "minLength": 1},
    ),
    Key(
        "max-file-size",
        "`2000000`",
        "Maximum file size in bytes; larger files are skipped (0 disables the limit).",
        "0",
        {"type": "integer", "minimum": 0},
    ),
    Key(
        "allow-env",
        "",
        "Your own environment variables, which are not reported as unknown.",
        '["NCCL_OFI_PROTOCOL"]',
        _STRINGS,
    ),
    Key(
        "extend",
        "",
        "Configuration file to inherit from: it applies to keys that this one does not set; "
        "`extend-` lists are merged.",
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
        "description": "Configuration of distlint: distlint.toml, or [tool.distlint] in "
        "pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{key.name: {"description": key.meaning, **key.schema} for key in KEYS},
            **{name: {"description": _CATALOGUE, **rows} for name in ("aliases", *TABLES)},
        },
        "definitions": {
            "selector": {
                "description": "A rule code, a rule name, a prefix of codes, or ALL.",
                "anyOf": [{"enum": selectors}, {"type": "string", "minLength": 1}],
            }
        },
    }


_CATALOGUE = "Catalogue entries."
