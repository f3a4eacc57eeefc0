"""``distlint merge``: one report of those that the shards of a run wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from distlint.cli import check, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.source.paths import display
from distlint.source.report import Report


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.engine.run import combined

    resolver = options.resolver(chosen)
    reports = [_read(path) for path in chosen.reports]
    _expect_all_parts(reports)
    report = combined(reports)
    for file in report.files:
        resolver.of_file(file)
    report = check.without_known(report, resolver)
    check.tell(report, chosen, resolver)
    return check.status(report, chosen)


def parser() -> Parser:
    parser = Parser(
        "distlint merge",
        description="Merge shard reports, as if one run had checked all files. Write the reports "
        "with `distlint check --shard I/N --output-format report`.",
        epilog="Exit status: same as that of one run over all files.",
    )
    parser.add_argument("reports", nargs="+", type=Path, metavar="FILE", help="shard report")
    options.add_configuration(parser)
    check.add_baseline(parser)
    group = check.add_output(parser)
    check.add_exit_zero(group)
    options.add_display(parser)
    parser.set_defaults(unsafe_fixes=None)
    return parser


def _expect_all_parts(reports: Sequence[Report]) -> None:
    """Files of a part that is not there would pass for clean.

    Raises:
        ConfigError: if a part is missing, or there twice.
    """
    parts = [report.shard for report in reports if report.shard is not None]
    if not parts:
        return
    counts = {count for _, count in parts}
    if len(counts) > 1 or len(parts) < len(reports):
        raise ConfigError("these reports are not shards of the same run")
    numbers = [number for number, _ in parts]
    (count,) = counts
    missing = sorted({*range(1, count + 1)} - {*numbers})
    if missing:
        names = ", ".join(f"{number}/{count}" for number in missing)
        raise ConfigError(f"missing report of shard {names}")
    if len(numbers) > count:
        raise ConfigError("the report of a shard is given twice")


def _read(path: Path) -> Report:
    from distlint.output.places import repository
    from distlint.source.exchange import ExchangeError, loads

    try:
        return loads(path.read_text(encoding="utf-8"), repository())
    except OSError as error:
        raise ConfigError(f"{display(path)}: cannot read file: {error.strerror}") from None
    except (ExchangeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{display(path)}: {error}") from None
