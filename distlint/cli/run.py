"""``distlint run``: start a script on several processes, with a watch over its collectives."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.cli import INTERRUPTED, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Resolver

if TYPE_CHECKING:
    from distlint.source.finding import Finding, Place

# What the processes read; the names are those of distlint.runtime, which is not imported here.
WATCH = "DISTLINT_WATCH"
PATIENCE = "DISTLINT_WATCH_PATIENCE"
TIMEOUT = "DISTLINT_WATCH_TIMEOUT"
FINDINGS = "DISTLINT_WATCH_FINDINGS"
FOLDER = "DISTLINT_RUN_FOLDER"

_LEVELS = {"on": "1", "strict": "strict"}
_VALUED = ("-n", "--nproc", "--patience", "--timeout", "--config")
_GRACE = 3.0  # seconds for processes to end by themselves
_WATCHED_GRACE = 6.0  # the same where they have a table to print


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(_spelled_out(list(arguments)))
    script = Path(chosen.script)
    if not script.is_file():
        raise ConfigError(f"no such script: {script}")
    if importlib.util.find_spec("torch") is None:
        raise ConfigError("`distlint run` requires torch: pip install torch")
    with tempfile.TemporaryDirectory(prefix="distlint-run-") as folder:
        return _launch(chosen, script, Path(folder))


def parser() -> Parser:
    parser = Parser(
        "distlint run",
        description="Launch a script on several processes on this machine, as torchrun does.",
        epilog="Exit status: that of the first process that failed, or 0.",
    )
    parser.add_argument(
        "-n",
        "--nproc",
        type=options.count,
        metavar="N",
        help="number of processes (default: one per GPU, or 2 without GPUs)",
    )
    group = parser.add_argument_group("watch")
    group.add_argument(
        "--watch",
        nargs="?",
        const="on",
        choices=tuple(_LEVELS),
        metavar="=strict",
        help="monitor collectives and report where ranks diverge; --watch=strict compares the "
        "ranks before each collective and raises on all ranks",
    )
    group.add_argument(
        "--patience",
        type=options.seconds,
        metavar="SECONDS",
        help="report a rank that has been missing for this long (default: 5)",
    )
    group.add_argument(
        "--timeout",
        type=options.seconds,
        metavar="SECONDS",
        help="with --watch=strict, raise after this long (default: timeout of the process group)",
    )
    options.add_configuration(parser)
    options.add_display(parser)
    parser.add_argument("script", help="script to run")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="arguments of the script"
    )
    rest.required = False  # as the message about a missing script would have it
    return parser


def _spelled_out(arguments: list[str]) -> list[str]:
    """``--watch`` without a value must not take the script for one."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        if arguments[index] == "--watch":
            arguments[index] = "--watch=on"
        index += 2 if arguments[index] in _VALUED else 1
    return arguments


def _launch(chosen: argparse.Namespace, script: Path, folder: Path) -> int:
    environment = os.environ | {FOLDER: str(folder)}
    if chosen.watch:
        environment[WATCH] = _LEVELS[chosen.watch]
    for name, value in ((PATIENCE, chosen.patience), (TIMEOUT, chosen.timeout)):
        if value is not None:
            environment[name] = str(value)
    if environment.get(WATCH):
        environment[FINDINGS] = str(_write_findings(chosen, script, folder))
    launcher = [sys.executable, "-m", "distlint.runtime.agent", "--standalone"]
    command = [
        *launcher,
        f"--nproc-per-node={chosen.nproc or _gpus() or 2}",
        "-m",
        "distlint.runtime.launch",
        str(script),
        *chosen.arguments,
    ]
    with _terminable():
        # In a session of its own Ctrl-C reaches it only through this process.
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            status = process.wait()
        except BaseException as stop:
            _end(process, folder, _WATCHED_GRACE if environment.get(WATCH) else _GRACE)
            if isinstance(stop, KeyboardInterrupt):
                print("distlint: interrupted; all processes have ended", file=sys.stderr)
                return INTERRUPTED
            raise
    return _status(status, folder)


def _gpus() -> int:
    """How many GPUs there are, as far as can be seen without torch."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() not in ("", "-1")])
    return sum(entry.name[6:].isdecimal() for entry in Path("/dev").glob("nvidia[0-9]*"))


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """While this lasts, SIGTERM and the end of the terminal end the processes, too."""

    def stop(number: int, _: object) -> None:
        sys.exit(128 + number)

    names = ("SIGTERM", "SIGHUP")  # there is no SIGHUP on Windows
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    previous = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _end(process: subprocess.Popen[bytes], folder: Path, grace: float) -> None:
    """End the launcher and what it has started; a second Ctrl-C does not wait for them."""
    process.terminate()
    try:
        process.wait(grace)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        pass
    finally:
        _kill(process, folder)


def _kill(process: subprocess.Popen[bytes], folder: Path) -> None:
    """The launcher would wait for half a minute for processes that ignore SIGTERM."""
    for note in folder.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(int(note.stem), signal.SIGKILL)
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _status(launcher: int, folder: Path) -> int:
    """The status of the process that failed first; the launcher's own tells only that one did."""
    if launcher == 0:
        return 0
    notes = sorted(folder.glob("*.status"), key=lambda note: note.stat().st_mtime_ns)
    for note in notes:
        if status := int(note.read_text() or 0) & 255:
            return status
    return launcher if launcher > 0 else 128 - launcher


def _write_findings(chosen: argparse.Namespace, script: Path, folder: Path) -> Path:
    """What the static analysis says of the script, for the watch to name rule and line."""
    from distlint.engine.run import check_paths

    resolver = Resolver(options.overrides(chosen))
    try:
        findings = check_paths([script], resolver).findings
    except ConfigError:
        raise
    except Exception as error:  # the run matters more than what is said about it
        print(f"distlint: static analysis failed: {type(error).__name__}: {error}", file=sys.stderr)
        findings = ()
    file = folder / "findings.json"
    file.write_text(json.dumps([_row(finding) for finding in findings]), encoding="utf-8")
    return file


def _row(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "file": _file(finding.place),
        "line": finding.place.span.row,
        "related": [[_file(each.place), each.place.span.row] for each in finding.related],
    }


def _file(place: Place) -> str:
    return os.path.abspath(place.path)
