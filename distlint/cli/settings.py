"""``--show-files`` and ``--show-settings``: what a run is about, without checking."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from distlint.cli import FAILED, OK, options
from distlint.engine.discovery import discover
from distlint.engine.settings import Resolver, Settings
from distlint.output.style import printer
from distlint.source.finding import Severity
from distlint.source.paths import display
from distlint.source.report import Notice


def show(chosen: argparse.Namespace) -> int:
    """Print what was asked for; failures to find files are told and give status 2."""
    resolver = options.resolver(chosen)
    found = discover(
        chosen.paths or [Path()],
        resolver,
        force_exclude=chosen.force_exclude,
        respect_gitignore=chosen.respect_gitignore,
    )
    files = [target.path for target in found.targets]
    out = printer(sys.stdout, color=False)
    if chosen.show_files:
        for file in files:
            out.line(display(file))
    else:
        for line in _all(files, resolver):
            out.line(line)
    _tell(found.notices, chosen)
    return FAILED if any(notice.kind == "failed" for notice in found.notices) else OK


def _tell(notices: Sequence[Notice], chosen: argparse.Namespace) -> None:
    from distlint.output import summary

    out = printer(sys.stderr, color=options.colored(chosen.color, sys.stderr))
    summary.notices(tuple(notices), out, verbose=chosen.verbose)


def _all(files: Sequence[Path], resolver: Resolver) -> Iterator[str]:
    """The settings of each configuration in force, as TOML."""
    by_settings: dict[int, tuple[Settings, list[Path]]] = {}
    for file in files:
        settings = resolver.of_file(file)
        by_settings.setdefault(id(settings), (settings, []))[1].append(file)
    if not by_settings:
        settings = resolver.of_folder(resolver.cwd)
        by_settings[id(settings)] = (settings, [])
    for number, (settings, concerned) in enumerate(by_settings.values()):
        if number:
            yield ""
        yield from _one(settings, concerned)


def _one(settings: Settings, files: Sequence[Path]) -> Iterator[str]:
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    yield f"# for {display(files[0])}{more}" if files else "# for no file"
    origin = display(settings.config) if settings.config else "none, these are the defaults"
    yield f"# configuration: {origin}"
    yield f"# project: {display(settings.root)}"
    for key, value in _values(settings).items():
        if value is not None:
            yield f"{key} = {_toml(value)}"


def _values(settings: Settings) -> dict[str, object]:
    """What is in force, under the keys of the configuration."""
    return {
        "select": sorted(settings.selection.codes),
        "preview": settings.preview,
        "per-file-ignores": {
            ("!" if pattern.negated else "") + pattern.text: sorted(codes)
            for pattern, codes in settings.per_file_ignores
        },
        "severity": settings.severities,
        "fail-on": settings.fail_on,
        "exclude": [pattern.text for pattern in settings.exclude],
        "src": settings.src,
        "world": settings.world,
        "catalogue": [each for each in settings.catalogue if isinstance(each, Path)],
        "rules": (*settings.rules, *settings.rule_packages),
        "runtime": settings.runtime,
        "versions": settings.versions,
        "unsafe-fixes": settings.unsafe_fixes,
        "baseline": settings.baseline,
        "cache-dir": settings.cache_dir,
        "max-file-size": settings.max_file_size,
        "allow-env": settings.allow_env,
    }


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Severity):
        return _toml(value.value)
    if isinstance(value, (str, Path)):
        return json.dumps(str(value))
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)
