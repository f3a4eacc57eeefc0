"""Prepare a release, check that all files agree on its version, and print its notes.

RELEASING.md says when each is run. The version of a distribution comes from the tag; what is typed
elsewhere is written by ``prepare`` and compared by ``check``.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = "CHANGELOG.md"

_VERSION = r"\d+\.\d+\.\d+"
_HEADING = re.compile(rf"^## (?P<version>{_VERSION}) \((?P<date>[^)]*)\)$", re.MULTILINE)
_UNRELEASED = re.compile(r"^## Unreleased$", re.MULTILINE)
_MENTIONS = {
    "pyproject.toml": rf'^fallback-version = "({_VERSION})"',
    "docs/pre-commit.md": rf"^ *rev: v({_VERSION})",
    "docs/ci/*.yml": rf"OWNER/distlint(?:\.git)?@v({_VERSION})",
    "editors/vscode/package.json": rf'^  "version": "({_VERSION})"',
    # The package itself: its second line, and again under the name "".
    "editors/vscode/package-lock.json": (
        rf'^(?:  |    "": \{{\n      "name": "distlint",\n      )"version": "({_VERSION})"'
    ),
}
"""Where the latest release is named: files, and a pattern whose group is the version."""


class ReleaseError(Exception):
    """Something that has to be put right before a release."""


def latest(root: Path = ROOT) -> str:
    """The version of the first numbered heading of the changelog."""
    heading = _HEADING.search(_text(root / CHANGELOG))
    if heading is None:
        raise ReleaseError(f"{CHANGELOG} has no heading `## X.Y.Z (DATE)`")
    return heading["version"]


def mentions(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Each place that names the latest release, as (file, version)."""
    for pattern, expression in _MENTIONS.items():
        for file in sorted(root.glob(pattern)):
            found = re.findall(expression, _text(file), re.MULTILINE)
            name = file.relative_to(root).as_posix()
            if not found:
                raise ReleaseError(f"{name} names no version")
            yield from ((name, version) for version in found)


def prepare(version: str, today: datetime.date, root: Path = ROOT) -> None:
    """Date the section of the changelog, and name the version wherever one is named."""
    if not re.fullmatch(_VERSION, version):
        raise ReleaseError(f"a version is X.Y.Z, not {version!r}")
    _replace(root / CHANGELOG, _dated(_text(root / CHANGELOG), version, today))
    for pattern, expression in _MENTIONS.items():
        for file in sorted(root.glob(pattern)):
            _replace(file, _named(_text(file), expression, version))


def check(tag: str, distribution: Path | None, root: Path = ROOT) -> None:
    """Everything that names a version has to name that of the tag."""
    version = tag.removeprefix("v")
    if not re.fullmatch(rf"v{_VERSION}", tag):
        raise ReleaseError(f"a tag is vX.Y.Z, not {tag!r}")
    if latest(root) != version:
        raise ReleaseError(f"{CHANGELOG} begins with {latest(root)}, not {version}")
    heading = _HEADING.search(_text(root / CHANGELOG))
    if heading is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", heading["date"]):
        raise ReleaseError(f"{CHANGELOG} has no date for {version}")
    wrong = [f"{file} names {other}" for file, other in mentions(root) if other != version]
    if distribution is not None:
        expected = {f"distlint-{version}.tar.gz", f"distlint-{version}-py3-none-any.whl"}
        built = {file.name for file in distribution.iterdir()}
        wrong += [f"{name} was not built" for name in sorted(expected - built)]
        wrong += [f"{name} is not of {version}" for name in sorted(built - expected)]
    if wrong:
        raise ReleaseError("\n".join(wrong))


def notes(tag: str, root: Path = ROOT) -> str:
    """The section of the changelog about a version, without its heading."""
    version = tag.removeprefix("v")
    text = _text(root / CHANGELOG)
    for heading in _HEADING.finditer(text):
        if heading["version"] == version:
            return text[heading.end() :].split("\n## ", 1)[0].strip() + "\n"
    raise ReleaseError(f"{CHANGELOG} has no section about {version}")


def _dated(text: str, version: str, today: datetime.date) -> str:
    unreleased = _UNRELEASED.search(text)
    for heading in _HEADING.finditer(text):
        if heading["version"] != version:
            continue
        if heading["date"] != "unreleased":
            raise ReleaseError(f"{CHANGELOG} has {version} already, of {heading['date']}")
        if unreleased is not None:
            raise ReleaseError(f"{CHANGELOG}: move what is under Unreleased to {version} first")
        return text.replace(heading[0], f"## {version} ({today})")
    if unreleased is None:
        raise ReleaseError(f"{CHANGELOG} has no heading `## Unreleased`")
    return _UNRELEASED.sub(f"## {version} ({today})", text)


def _named(text: str, expression: str, version: str) -> str:
    def name(match: re.Match[str]) -> str:
        start, end = match.span(1)
        return match[0][: start - match.start()] + version + match[0][end - match.start() :]

    return re.sub(expression, name, text, flags=re.MULTILINE)


def _text(file: Path) -> str:
    return file.read_text("utf-8")


def _replace(file: Path, text: str) -> None:
    file.write_text(text, "utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="write the version X.Y.Z where one is named")
    preparing.add_argument("version")
    checking = commands.add_parser("check", help="compare what names a version with a tag")
    checking.add_argument("tag")
    checking.add_argument("--distribution", type=Path, help="and the files built in this directory")
    noting = commands.add_parser("notes", help="print the section of the changelog")
    noting.add_argument("tag")
    options = parser.parse_args(arguments)
    try:
        if options.command == "prepare":
            prepare(options.version, datetime.date.today())
        elif options.command == "check":
            check(options.tag, options.distribution)
        else:
            print(notes(options.tag), end="")
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
