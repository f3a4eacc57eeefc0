"""Whether rules that a project brings along may be run, and what is said when they are.

A configuration that names rules has Python code run. In one's own project that is what `check` is
asked for; docs/security.md says what it means for the project of someone else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from distlint.engine.errors import ConfigError, did_you_mean
from distlint.source.paths import display

VARIABLE = "DISTLINT_NO_PROJECT_RULES"
KEY = "run-project-rules"
USER_FILE = "distlint.toml"

_SHOWN = 3

Announce = Callable[[str], None]


def refusal(read: Callable[[Path], Mapping[str, object]]) -> str | None:
    """Why rules of projects are not run for this user, if that is so.

    Args:
        read: reads a TOML file.

    Raises:
        ConfigError: if the user's own configuration cannot be used.
    """
    if os.environ.get(VARIABLE, "") not in ("", "0", "false"):
        return f"{VARIABLE} is set"
    file = user_configuration()
    if file is None or not os.path.isfile(file):
        return None
    content = read(file)
    for key in content:
        if key != KEY:
            known = f"only `{KEY}` is allowed{did_you_mean(key, [KEY])}"
            raise ConfigError(f"{display(file)}: unknown key `{key}`: {known}")
    allowed = content.get(KEY, True)
    if not isinstance(allowed, bool):
        raise ConfigError(f"{display(file)}: `{KEY}` must be true or false")
    return None if allowed else f"`{KEY}` is false in {display(file)}"


def user_configuration() -> Path | None:
    """The user's own configuration file, there or not."""
    folder = _folder("XDG_CONFIG_HOME", "APPDATA", (".config",))
    return folder / "distlint" / USER_FILE if folder else None


def announcement(files: tuple[Path, ...], packages: tuple[str, ...]) -> str:
    how = f"skip them with --isolated or {VARIABLE}=1"
    return f"running custom rules of the project: {_named(files, packages)}; {how}"


def omission(files: tuple[Path, ...], packages: tuple[str, ...], why: str) -> str:
    return f"custom rules of the project were not run: {_named(files, packages)} ({why})"


def _named(files: tuple[Path, ...], packages: tuple[str, ...]) -> str:
    names = [*map(display, files), *(f"entry point `{package}`" for package in packages)]
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def is_news(directory: Path, files: tuple[Path, ...], packages: tuple[str, ...]) -> bool:
    """Were these rules, as they are now, never run for this user before? That is noted.

    Where it cannot be noted, they are news each time.
    """
    folder = _folder("XDG_CACHE_HOME", "LOCALAPPDATA", (".cache",))
    if folder is None:
        return True
    mark = folder / "distlint" / "rules" / _digest(directory, files, packages)
    try:
        if mark.exists():
            return False
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        return True
    return True


def _digest(directory: Path, files: tuple[Path, ...], packages: tuple[str, ...]) -> str:
    from hashlib import sha256  # takes its time to import, and few projects have rules

    digest = sha256(os.fsencode(os.path.realpath(directory)))
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:
            content = b""
        digest.update(sha256(os.fsencode(file)).digest() + sha256(content).digest())
    for package in packages:
        digest.update(sha256(package.encode("utf-8", "surrogateescape")).digest())
    return digest.hexdigest()


def _folder(variable: str, on_windows: str, below_home: tuple[str, ...]) -> Path | None:
    """A directory of the user's, by the rules of the platform."""
    named = os.environ.get(on_windows if sys.platform == "win32" else variable, "")
    if os.path.isabs(named):  # others are to be ignored, says the specification of XDG
        return Path(named)
    try:
        return Path.home().joinpath(*below_home)
    except RuntimeError:
        return None
