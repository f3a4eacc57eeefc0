"""The shape of a catalogue file, and the way from a TOML row to a checked record."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from distlint.catalogue.entries import (
    AXES,
    FORMS,
    GROUP_KINDS,
    KINDS,
    RANK_SCOPES,
    RESULTS,
    TAGS,
    UNIFORM_VALUES,
    WRITTEN,
    Agreement,
    Argument,
    ClassInfo,
    Collective,
    First,
    Gradients,
    GroupSource,
    Guard,
    LocalSource,
    Neutral,
    RankSource,
    Retired,
    Returns,
    Row,
    Score,
    Seed,
    UniformSource,
    Write,
)

STREAMS = ("python", "numpy", "torch")
FILE_KEYS = ("modules", "version", "aliases", "needs")

_FORM_OF_METHOD = {
    "__call__": "invoke",
    "__iter__": "iterate",
    "__enter__": "enter",
    "__exit__": "exit",
}


class CatalogueError(ValueError):
    """A catalogue file or table that does not follow the schema."""


class _InvalidError(Exception):
    """What is wrong with a value; the caller adds the file, the row and the key."""


Check = Callable[[object], object]


def nearest(word: str, options: Collection[str]) -> str:
    """A hint that names the option closest to ``word``, or lists a few."""
    import difflib  # only on the way to an error

    close = difflib.get_close_matches(word, options, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return "valid: " + ", ".join(sorted(options))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _InvalidError(f"must be a string, not {value!r}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _InvalidError(f"must be true or false, not {value!r}")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _InvalidError(f"must be an integer, not {value!r}")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _InvalidError(f"must be a list of strings, not {value!r}")
    return tuple(value)


def _patterns(value: object) -> tuple[str, ...]:
    return tuple(each for text in _texts(value) for each in expand_braces(text))


def _text_or_texts(value: object) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else _texts(value)


def _text_map(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _InvalidError(f"must be a table of strings, not {value!r}")
    return value


def _one_of(*options: str) -> Check:
    valid = frozenset(options)

    def check(value: object) -> str:
        if value not in valid:
            raise _InvalidError(f"{value!r} is unknown; {nearest(str(value), options)}")
        return str(value)

    return check


def _some_of(*options: str) -> Check:
    one = _one_of(*options)

    def check(value: object) -> tuple[str, ...]:
        return tuple(str(one(item)) for item in _texts(value))

    return check


def _tag_map(value: object) -> Mapping[str, str]:
    tags = _text_map(value)
    _some_of(*TAGS)(list(tags.values()))
    return tags


def _arguments(value: object) -> tuple[Argument, ...]:
    return tuple(map(_argument, _texts(value)))


def _argument(text: str) -> Argument:
    param, equals, literal = text.partition("=")
    if not equals or not param.isidentifier():
        raise _InvalidError(f'{text!r} must have the form "parameter=literal"')
    try:
        return Argument(param, ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        raise _InvalidError(f"{literal!r} is not a Python literal") from None


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of row: its record, what names it, its keys, and which of those name parameters."""

    record: Callable[..., Row]
    subjects: tuple[str, ...]
    fields: Mapping[str, Check]
    required: tuple[str, ...] = ()
    of_params: tuple[str, ...] = ()


_CALL = ("call",)
_VALUE = ("call", "env", "name")
_NAME = ("name",)

TABLES: Mapping[str, Table] = {
    "collective": Table(
        Collective,
        _CALL,
        {
            "kind": _one_of(*KINDS),
            "form": _one_of(*FORMS),
            "params": _texts,
            "group": _text,
            "group_kind": _one_of(*GROUP_KINDS),
            "root": _text,
            "root_default": _number,
            "group_root": _text,
            "agree": _texts,
            "async": _text,
            "payload": _text,
            "result": _one_of(*RESULTS),
            "result_param": _text,
            "only_under": _some_of(*TAGS),
            "always_since": _text,
            "only_with": _arguments,
            "not_with": _arguments,
            "not_given": _texts,
            "members_with": _arguments,
            "not_built_with": _arguments,
            "once_until": _texts,
            "after_gradients": _flag,
            "each": _text,
            "alone": _flag,
            "note": _text,
        },
        required=("kind",),
        of_params=(
            "group",
            "root",
            "group_root",
            "agree",
            "async",
            "payload",
            "result_param",
            "each",
            "not_given",
        ),
    ),
    "rank": Table(
        RankSource,
        _VALUE,
        {
            "form": _one_of("call", "property", "callback", "env", "name"),
            "scope": _one_of(*RANK_SCOPES),
            "test": _one_of("main", "nonmain", "last"),
            "params": _texts,
            "group": _text,
            "axis": _text,
            "local_param": _text,
            "callback": _text,
            "note": _text,
        },
        of_params=("group", "axis", "local_param", "callback"),
    ),
    "uniform": Table(
        UniformSource,
        _VALUE,
        {
            "form": _one_of("call", "property", "env", "name"),
            "value": _one_of(*UNIFORM_VALUES),
            "params": _texts,
            "group": _text,
            "note": _text,
        },
        of_params=("group",),
    ),
    "local": Table(
        LocalSource,
        ("call", "env"),
        {
            "form": _one_of("call", "property", "iterate", "handler", "generator", "env"),
            "why": _text,
            "weak": _flag,
            "share": _flag,
            "even_from": _texts,
            "directory": _flag,
            "stream": _one_of(*STREAMS),
            "in_place": _text,
            "params": _texts,
            "handler": _text,
            "seed": _text,
        },
        required=("why",),
        of_params=("handler", "in_place", "seed"),
    ),
    "class": Table(
        ClassInfo,
        _NAME,
        {
            "bases": _texts,
            "hints": _texts,
            "telltales": _texts,
            "attributes": _text_map,
            "params": _texts,
            "wraps": _text,
            "unwraps": _text,
            "parts": _text,
            "parts_with": _texts,
            "backward": _flag,
            "shared": _flag,
            "nests": _flag,
            "tags": _some_of(*TAGS),
            "tagged_by": _tag_map,
            "alone_with": _arguments,
            "method_params": _text_map,
            "batch_params": _texts,
            "hooks_on_all": _patterns,
            "run_by": _text,
            "many_with": _texts,
            "note": _text,
        },
        of_params=("wraps",),
    ),
    "returns": Table(
        Returns,
        _CALL,
        {
            "kinds": _text_or_texts,
            "like": _texts,
            "converts": _text_map,
            "model": _text,
            "params": _texts,
            "in_place": _text,
        },
        of_params=("model", "in_place"),
    ),
    "guard": Table(
        Guard,
        _NAME,
        {
            "runs_on": _one_of("main", "local_main", "last", "process", "local_process"),
            "process": _text,
            "params": _texts,
            "communicates": _flag,
            "note": _text,
        },
        required=("runs_on",),
        of_params=("process",),
    ),
    "first": Table(
        First,
        _NAME,
        {
            "who": _one_of("main", "local_main"),
            "barrier": _flag,
            "local_param": _text,
            "params": _texts,
            "note": _text,
        },
        of_params=("local_param",),
    ),
    "group": Table(
        GroupSource,
        _CALL,
        {
            "form": _one_of("call", "property"),
            "axis": _one_of("world", "node", *AXES),
            "ranks": _text,
            "mesh": _text,
            "params": _texts,
        },
        of_params=("ranks", "mesh"),
    ),
    "seed": Table(
        Seed,
        _CALL,
        {"streams": _some_of(*STREAMS), "params": _texts, "seed": _text},
        required=("streams",),
        of_params=("seed",),
    ),
    "agreement": Table(
        Agreement,
        _CALL,
        {"agree": _texts, "sets": _text, "params": _texts, "note": _text},
        required=("agree", "sets"),
        of_params=("agree",),
    ),
    "gradients": Table(
        Gradients,
        _CALL,
        {"enabled": _flag, "enabled_by": _text, "params": _texts},
        of_params=("enabled_by",),
    ),
    "neutral": Table(Neutral, _CALL, {"reports": _flag, "note": _text}),
    "write": Table(
        Write,
        ("call", "method"),
        {
            "what": _one_of(*WRITTEN),
            "params": _texts,
            "path": _text,
            "mode": _text,
            "by": _texts,
            "opened": _flag,
            "cached": _flag,
            "names": _text,
            "not_with": _arguments,
            "not_given": _texts,
            "note": _text,
        },
        of_params=("path", "mode", "names", "not_given"),
    ),
    "score": Table(Score, _CALL, {"mean": _flag, "note": _text}),
    "retired": Table(
        Retired,
        _NAME,
        {"replacement": _text, "exists": _flag, "since": _text, "note": _text},
    ),
}


def parse_row(
    table_name: str, row: object, source: str, framework: str
) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """The records that a row stands for (one for each name of its subject), with their aliases."""
    table = TABLES[table_name]
    where = f"{source}: [[{table_name}]]"
    if not isinstance(row, Mapping):
        raise CatalogueError(f"{where} must be a table, not {row!r}")
    subjects = [key for key in table.subjects if key in row]
    if len(subjects) != 1:
        raise CatalogueError(
            f"{where} requires {_either(table.subjects)}; its keys are {sorted(row)}"
        )
    subject = subjects[0]
    where = f"{where} {row[subject]!r}"
    names = _names(row[subject], where, subject)
    values: dict[str, object] = {}
    aliases: tuple[str, ...] = ()
    for key, value in row.items():
        if key == subject:
            continue
        check = _texts if key == "aliases" else table.fields.get(key)
        if check is None:
            options = [*table.subjects, "aliases", *table.fields]
            raise CatalogueError(f"{where}: unknown key {key!r}; {nearest(key, options)}")
        try:
            checked = check(value)
        except _InvalidError as problem:
            raise CatalogueError(f"{where}: {key} {problem}") from None
        if key == "aliases":
            aliases = tuple(row["aliases"])
        else:
            values["async_" if key == "async" else key] = checked
    for key in table.required:
        if key not in row:
            raise CatalogueError(f"{where}: missing key {key!r}")
    if aliases and len(names) > 1:
        raise CatalogueError(f"{where}: an entry with several names cannot have aliases")
    _check_params(table, row, where)
    if subject == "method" or (subject in ("env", "name") and "form" in table.fields):
        values["form"] = subject
    for name in names:
        if "form" in table.fields and "form" not in values:
            form = _FORM_OF_METHOD.get(name.rpartition(".")[2], "call")
            yield table.record(name=name, framework=framework, form=form, **values), aliases
        else:
            yield table.record(name=name, framework=framework, **values), aliases


def _check_params(table: Table, row: Mapping[str, object], where: str) -> None:
    """A key that names a parameter must name one that ``params`` lists."""
    used = {key: row[key] for key in table.of_params if key in row}
    for key in ("only_with", "not_with", "members_with"):
        if key in row:
            used[key] = [text.partition("=")[0] for text in _texts(row[key])]
    if not used:
        return
    params = [param.lstrip("*") for param in _texts(row.get("params", []))]
    for key, value in used.items():
        for param in [value] if isinstance(value, str) else _texts(value):
            if param not in params:
                hint = nearest(param, params) if params else "the entry has no 'params'"
                raise CatalogueError(f"{where}: unknown parameter {param!r} in {key}; {hint}")


def _names(value: object, where: str, key: str) -> list[str]:
    try:
        texts = [_text(value)] if isinstance(value, str) else _texts(value)
    except _InvalidError:
        raise CatalogueError(f"{where}: {key} must be a name or a list of names") from None
    names = [name for text in texts for name in expand_braces(text)]
    if not names or not all(names):
        raise CatalogueError(f"{where}: {key} is empty")
    return names


def expand_braces(text: str) -> list[str]:
    """``"time.{time,monotonic}"`` stands for two names, as in a shell."""
    head, brace, rest = text.partition("{")
    if not brace:
        return [text]
    options, _, tail = rest.partition("}")
    return [
        f"{head}{option.strip()}{end}"
        for option in options.split(",")
        for end in expand_braces(tail)
    ]


def _either(subjects: tuple[str, ...]) -> str:
    return " or ".join(map(repr, subjects)) if len(subjects) < 3 else f"one of {list(subjects)}"
