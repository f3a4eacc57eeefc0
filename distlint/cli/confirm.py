"""``distlint confirm``: write scripts that show the reported hangs, and run them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.cli import FINDINGS, OK, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.engine.selection import expand, unknown_rule
from distlint.engine.settings import Resolver
from distlint.source.finding import Finding
from distlint.source.numbers import whole_number
from distlint.source.paths import display

if TYPE_CHECKING:
    from distlint.confirm.reproducers import Reproducer
    from distlint.output.style import Printer


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    path, row = _target(chosen.target)
    codes = None if chosen.code is None else _codes(chosen.code)
    known = _reproducers(path, options.resolver(chosen, runs_rules=True), chosen)
    known = [each for each in known if codes is None or each.finding.code in codes]
    found = [each for each in known if row in {None, _row(each)}]
    from distlint.output.style import printer

    out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
    if not found:
        if not chosen.quiet:
            rows = ", ".join(dict.fromkeys(str(_row(each)) for each in known))
            other = f" in line {row}, but in {rows}" if known else ""
            out.line(f"No findings about hangs{other}.")
        return OK
    if chosen.output_file is not None:
        _write(found, chosen.output_file)
    if chosen.run:
        return _run(found, out, is_fixed=chosen.fixed)
    for each in found:
        if each.script is None or chosen.output_file is None:
            _show(each, len(found) == 1, out)
    return OK if all(each.script is not None for each in found) else FINDINGS


def _row(each: Reproducer) -> int:
    return each.finding.place.span.row


def _reproducers(path: Path, resolver: Resolver, chosen: Namespace) -> list[Reproducer]:
    if chosen.fixed:
        from distlint.confirm.repaired import repaired_in

        return repaired_in(path, resolver, chosen.unsafe_fixes)
    from distlint.confirm.reproducers import reproducers_in

    return reproducers_in(path, resolver)


def _show(each: Reproducer, is_one: bool, out: Printer) -> None:
    if each.script is None:
        out.line(_place(each), each.reason)
        return
    if not is_one:
        out.line(f"# ---- {_place(each)}")
    for line in each.script.source.splitlines():
        out.line(line)


def _write(found: Sequence[Reproducer], target: Path) -> None:
    """Write the script to a file, or all scripts to a folder."""
    scripts = {each.finding: each.script.source for each in found if each.script is not None}
    if target.is_dir():
        files = in_folder(target, scripts)
    elif len(scripts) > 1:
        rows = ", ".join(dict.fromkeys(str(finding.place.span.row) for finding in scripts))
        raise ConfigError(f"{len(scripts)} scripts: name a directory, or one of the lines {rows}")
    else:
        files = dict.fromkeys([target], "".join(scripts.values())) if scripts else {}
    for path in files:
        _refuse_other(path)
    for path, source in files.items():
        _save(path, source)


def in_folder(folder: Path, scripts: Mapping[Finding, str]) -> dict[Path, str]:
    """A file for each script, also where one line has several findings."""
    files: dict[Path, str] = {}
    for finding, source in scripts.items():
        place = finding.place
        name = f"{place.path.stem}_{place.span.row}_{finding.code}"
        path, number = folder / f"{name}.py", 2
        while path in files:
            path, number = folder / f"{name}_{number}.py", number + 1
        files[path] = source
    return files


def _refuse_other(path: Path) -> None:
    """Only an earlier script is written over: the target may be the checked file by mistake."""
    from distlint.confirm.script import is_script

    try:
        known = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise ConfigError(f"cannot write {display(path)}: {error.strerror}") from None
    if known.strip() and not is_script(known):
        raise ConfigError(f"{display(path)} exists and was not written by `distlint confirm`")


def _save(path: Path, source: str) -> None:
    try:
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {display(path)}: {error.strerror}") from None


def _codes(word: str) -> frozenset[str]:
    """The codes that a code, its beginning or a name stands for, in whatever case."""
    for each in (word.upper(), word.lower()):
        with suppress(ConfigError):
            return expand(each)
    raise ConfigError(unknown_rule(word))


def _run(found: Sequence[Reproducer], out: Printer, *, is_fixed: bool) -> int:
    from distlint.confirm.run import AFTER_FIX, VERDICTS, Verdicts, confirmed
    from distlint.harness.cluster import missing

    lacking = missing()
    if lacking is not None:
        raise ConfigError(f"--run executes the scripts under gloo: {lacking}")
    verdicts: Verdicts = AFTER_FIX if is_fixed else VERDICTS
    as_expected = True
    for each in confirmed(found):
        if each.effect is None:
            out.line(_place(each.reproducer), "no script: ", each.reproducer.reason)
            as_expected = False
            continue
        verdict, what = verdicts[each.effect]
        as_expected = as_expected and not verdict.startswith("not ")
        style = "bold yellow" if verdict.startswith("not ") else "bold green"
        out.line(_place(each.reproducer), (verdict, style), f", {what}")
        for ranks, end in each.ends:
            out.line(f"    {ranks}: {end}")
    return OK if as_expected else FINDINGS


def _place(each: Reproducer) -> str:
    place = each.finding.place
    return f"{display(place.path)}:{place.span.row}: {each.finding.code} "


def parser() -> Parser:
    parser = Parser(
        "distlint confirm",
        description="Write a script that shows a reported hang, and run it.",
        epilog="Exit status: 0 each finding has a script, and is confirmed with --run, "
        "1 some have none or are not confirmed, 2 distlint itself failed.",
    )
    parser.add_argument("target", metavar="FILE[:LINE]", help="a script, or the line of a finding")
    parser.add_argument("--code", metavar="CODE", help="only findings with this code")
    parser.add_argument(
        "--run", action="store_true", help="execute the scripts under gloo (needs torch)"
    )
    parser.add_argument(
        "--fixed",
        action="store_true",
        help="write the script of the fixed source instead, in which all ranks finish",
    )
    options.add_unsafe_fixes(parser)
    parser.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write the script to this file, or each script to this directory",
    )
    options.add_configuration(parser)
    options.add_display(parser)
    return parser


def _target(text: str) -> tuple[Path, int | None]:
    """The file and, after a colon, the line; a file whose own name ends so wins."""
    name, separator, line = text.rpartition(":")
    row = whole_number(line) if separator and line.isdecimal() else None
    path = Path(text)
    if row is None or path.exists():
        return path.absolute(), None
    return Path(name).absolute(), row
