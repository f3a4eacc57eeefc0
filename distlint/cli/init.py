"""``distlint init``: a configuration to start from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from distlint.cli import FAILED, OK, options
from distlint.cli.parser import Parser
from distlint.engine.config_file import FILE_NAME, PYPROJECT, TABLE, config_in, load, parsed
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.writing import NotWritten, replace
from distlint.source.paths import display

BASELINE = "distlint-baseline.json"
_LINE = f'baseline = "{BASELINE}"'

_BODY = """\
# All keys: `distlint config`. About a rule: `distlint rule CODE`.
# extend-exclude = ["third_party"]
# per-file-ignores = { "tests/*" = ["DST101"] }
# fail-on = "error"
"""


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    folder = Path(os.path.abspath(chosen.folder))
    if not folder.is_dir():
        raise ConfigError(f"{display(folder)}: no such directory")
    there = config_in(folder)
    if there is None:
        shared = folder / PYPROJECT
        file = shared if shared.exists() and not chosen.own_file else folder / FILE_NAME
        _write(file, _BODY + (f"{_LINE}\n" if chosen.baseline else ""))
        what = f"added [{TABLE}]" if file.name == PYPROJECT else "written"
    elif chosen.baseline:
        file = there
        _add_baseline(file)
        what = "added `baseline`"
    else:
        hint = "add a baseline to it with `distlint init --baseline`"
        raise ConfigError(f"{display(there)} already has a configuration; {hint}")
    failed = chosen.baseline and not _recorded(folder, quiet=chosen.quiet)
    if not chosen.quiet:
        print(f"{display(file)}: {what}. Next: distlint check {display(folder)}")
    return FAILED if failed else OK


def parser() -> Parser:
    parser = Parser(
        "distlint init",
        description="Create a configuration file: a [tool.distlint] table in an existing "
        "pyproject.toml, otherwise a distlint.toml. An existing configuration is not changed, "
        "except that --baseline adds its key.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="project directory (default: current directory)",
    )
    parser.add_argument(
        "--own-file",
        action="store_true",
        help="write a distlint.toml even if there is a pyproject.toml",
    )
    parser.add_argument(
        "--baseline",
        action="store_true",
        help=f"check the directory and record the findings in a baseline ({BASELINE})",
    )
    options.add_display(parser)
    return parser


def _write(file: Path, body: str) -> None:
    old = file.read_bytes() if file.exists() else None
    if old is None:
        text = body
    else:
        before = old.decode("utf-8")
        newline = "\r\n" if "\r\n" in before else "\n"
        gap = "" if not before or before.endswith("\n") else newline
        text = f"{before}{gap}{newline}" + f"[{TABLE}]\n{body}".replace("\n", newline)
        try:
            parsed(text, file)
        except ConfigError:
            parsed(before, file)  # rather what is wrong with the file as it was
            raise ConfigError(
                f"{display(file)}: cannot add a table to this file; use --own-file"
            ) from None
    _replace(file, old, text)
    load(file)


def _add_baseline(file: Path) -> None:
    """Add the key to the configuration that is there."""
    from distlint.engine.config_edit import with_key

    known = load(file).values.get("baseline")
    if known is not None:
        where = f"{display(known.file)}: `baseline` is already set to `{known.value}`"
        raise ConfigError(f"{where}; record the findings with `distlint check --update-baseline`")
    old = file.read_bytes()
    text = with_key(old.decode("utf-8"), file, "baseline", BASELINE)
    if text is None:
        raise ConfigError(
            f"{display(file)}: cannot add a key to this file; add it manually: {_LINE}"
        )
    _replace(file, old, text)


def _replace(file: Path, old: bytes | None, text: str) -> None:
    try:
        replace(file, old, text.encode("utf-8"))
    except NotWritten as error:
        raise ConfigError(f"{display(file)}: not written: {error}") from None


def _recorded(folder: Path, *, quiet: bool) -> bool:
    """Write the first baseline; false if a file could not be checked."""
    from distlint.engine.baseline import update
    from distlint.engine.run import check_paths

    resolver = Resolver(Overrides(baseline=folder / BASELINE))
    report = check_paths([folder], resolver)
    for file, count in update(report, resolver).items():
        if not quiet:
            print(f"{display(file)} contains {count:,} finding{'' if count == 1 else 's'}.")
    return not report.failed
