"""Check paths or standard input: the door through which the command line and editors come."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.engine.check import Session
from distlint.engine.discovery import Discovered, Target, discover
from distlint.engine.results import FileResult
from distlint.engine.settings import Resolver
from distlint.engine.workers import Progress, check_files
from distlint.rules.prefilter import worth_analysing
from distlint.rules.table import implemented
from distlint.source.finding import Place
from distlint.source.paths import STDIN
from distlint.source.report import CommentKey, Notice, Report, Reported, Undecided

if TYPE_CHECKING:
    from distlint.engine.cache import Cache

FEW = 8
"""Up to so many files without distributed words are looked at afresh."""


def check_paths(
    paths: Sequence[Path],
    resolver: Resolver,
    *,
    jobs: int | None = None,
    force_exclude: bool = False,
    respect_gitignore: bool = True,
    progress: Progress | None = None,
    shard: tuple[int, int] | None = None,
    caching: bool = False,
) -> Report:
    """Check files and all that lies below folders.

    Args:
        paths: what the user named.
        resolver: finds the settings of each file.
        jobs: processes to use, 0 for all cores, None for as many as pay.
        force_exclude: leave out excluded files also when they are named.
        respect_gitignore: leave out what git ignores below the named folders.
        progress: told how far the run is.
        shard: which part of the files, from 1, of how many; the report is for ``combined``.
        caching: use what earlier runs have found out, and keep what this one does.

    Raises:
        ConfigError: if a configuration cannot be used.
    """
    found = discover(
        paths, resolver, force_exclude=force_exclude, respect_gitignore=respect_gitignore
    )
    for target in found.targets:
        resolver.of_file(target.path)  # so that a bad configuration ends the run here
    found.notices += _not_yet(resolver)
    targets = found.targets
    if shard is not None:
        number, count = shard
        targets = targets[number - 1 :: count]
        if number > 1:  # what is said of the run as a whole is said once
            found.notices.clear()
    cache = _cache(targets, resolver) if caching else None
    results = check_files(targets, resolver, jobs, progress, cache)
    if shard is not None:
        return replace(part(results, found), shard=shard)
    report = merge(results, found)
    return _for_a_hook(report) if force_exclude else report


def _cache(targets: Sequence[Target], resolver: Resolver) -> Cache | None:
    """The results of earlier runs, where it is quicker to look them up than to do without."""
    if len(targets) < FEW and not any(map(_is_long_work, targets)):
        return None
    from distlint.engine.cache import Cache

    return Cache(resolver)


def _is_long_work(target: Target) -> bool:
    try:
        return worth_analysing(target.path.read_bytes())
    except (OSError, ValueError):
        return False


def _for_a_hook(report: Report) -> Report:
    """Without a word about files that were handed over for their suffix alone."""
    kept = tuple(notice for notice in report.notices if notice.kind != "nothing")
    return replace(report, notices=kept)


def check_stdin(
    data: bytes, filename: Path | None, resolver: Resolver, *, force_exclude: bool = False
) -> Report:
    """Check a text under the name of a file that need not exist.

    Raises:
        ConfigError: if the configuration in force cannot be used.
    """
    path = stdin_path(filename)
    folder = path.parent if filename else resolver.cwd
    settings = resolver.of_folder(folder)
    if filename and force_exclude and any(p.names(path) for p in settings.exclude):
        return merge([], Discovered())
    return merge([Session(resolver).check_bytes(data, path, settings)], Discovered())


def stdin_path(filename: Path | None) -> Path:
    """The path under which findings in standard input are reported."""
    return Path(os.path.abspath(filename)) if filename else STDIN


def merge(results: Iterable[FileResult], found: Discovered) -> Report:
    """One report of many results, independent of how the files were spread over processes."""
    return combined([part(results, found)])


def combined(parts: Sequence[Report]) -> Report:
    """One report of the parts of a run, independent of how the files were spread over them."""
    used = frozenset[CommentKey]().union(*(each.used for each in parts))
    reported = [item for each in parts for item in each.reported]
    undecided = [comment for each in parts for comment in each.undecided]
    reported += [each.item for each in undecided if used.isdisjoint(each.unless_used)]
    return Report(
        reported=tuple(_distinct(reported)),
        notices=tuple(sorted({notice for each in parts for notice in each.notices}, key=_order)),
        noted=tuple(_distinct(item for each in parts for item in each.noted)),
        checked=sum(each.checked for each in parts),
        skipped=sum(each.skipped for each in parts),
        suppressed=sum(each.suppressed for each in parts),
        over_budget=sum(each.over_budget for each in parts),
        roots=sum(each.roots for each in parts),
        files=tuple(sorted(file for each in parts for file in each.files)),
    )


def _order(notice: Notice) -> tuple[bool, str, str]:
    return notice.path is None, str(notice.path), notice.message


def part(results: Iterable[FileResult], found: Discovered) -> Report:
    """The report of some of the files: what comments are of no use is not decided yet."""
    results = list(results)
    notices = [*found.notices, *(notice for result in results for notice in result.notices)]
    skipped = sum(notice.kind == "skipped" for notice in notices)
    used = frozenset[CommentKey]().union(*(result.used for result in results))
    return Report(
        reported=tuple(_distinct(item for result in results for item in result.reported)),
        notices=tuple(notices),
        noted=tuple(_distinct(item for result in results for item in result.noted)),
        checked=sum(result.checked for result in results),
        skipped=skipped,
        suppressed=sum(result.suppressed for result in results),
        over_budget=sum(result.over_budget for result in results),
        roots=sum(result.roots for result in results),
        files=tuple(result.path for result in results if result.checked),
        undecided=tuple(
            Undecided(item, keys)
            for result in results
            for item, keys in result.unused
            if used.isdisjoint(keys)
        ),
        used=used,
    )


def _not_yet(resolver: Resolver) -> Iterable[Notice]:
    """Rules that were asked for one by one and that this version lacks."""
    asked = resolver.explicit_codes()
    if not asked:
        return
    for code in sorted(asked.keys() - implemented()):
        yield Notice("warning", f"{code} ({asked[code]}) is not implemented in this version")


def _distinct(reported: Iterable[Reported]) -> list[Reported]:
    """In order, and once each: two entry points may lead to the same branch and collective.

    What a file's own findings tell is not told again at each call that leads there, and what only
    such calls tell is told at the first of them.
    """
    kept: dict[tuple[str, Place, Place | None], Reported] = {}
    told: dict[Place, int] = {}
    called: dict[tuple[str, Place], Reported] = {}
    for item in sorted(reported, key=lambda item: item.finding.sort_key):
        finding = item.finding
        about = finding.related[0].place if finding.related else None
        is_kept = kept.setdefault((finding.code, finding.place, about), item) is item
        if finding.moved_from is not None and is_kept:
            first = called.setdefault((finding.code, finding.moved_from), item)
            if first.finding.severity.weight < finding.severity.weight:
                called[finding.code, finding.moved_from] = item
        if finding.moved_from is None and not finding.preview:
            told[finding.place] = max(told.get(finding.place, -1), finding.severity.weight)
    return [
        item
        for item in kept.values()
        if item.finding.moved_from is None
        or (
            called.get((item.finding.code, item.finding.moved_from)) is item
            and told.get(item.finding.moved_from, -1) < item.finding.severity.weight
        )
    ]
