"""The result of the checks as text, as JSON, and bundled for a bug report."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from distlint import __version__
from distlint.doctor.machine import Check, Machine, python
from distlint.doctor.secrets import masked_all, masked_text
from distlint.output.style import Printer, visible, wrapped

FORMAT = 1
_STYLE = {
    "ok": "green",
    "info": "cyan",
    "skipped": "dim",
    "warning": "bold yellow",
    "error": "bold red",
}
_REPORTED = (
    *("NCCL_", "TORCH", "PYTORCH_", "CUDA_", "GLOO_", "ACCELERATE_", "DS_", "DEEPSPEED_", "OMP_"),
    *("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "SLURM_", "OMPI_", "PMI_", "PET_", "GROUP_RANK"),
)


def failed(rows: Iterable[Check]) -> bool:
    return any(row.verdict in ("warning", "error") for row in rows)


def write(rows: Sequence[Check], out: Printer, width: int, *, verbose: bool, quiet: bool) -> None:
    """A line or two for each check; ``quiet`` leaves out what is in order."""
    shown = [r for r in rows if not quiet or r.verdict in ("warning", "error")]
    names = max((len(row.name) for row in shown), default=0)
    for row in shown:
        head = f"{row.verdict:<8} {row.name:<{names}}  "
        lines = _wrapped(row.found, max(30, width - len(head)))
        out.line((f"{row.verdict:<8} ", _STYLE[row.verdict]), f"{row.name:<{names}}  ", lines[0])
        indent = " " * len(head)
        for line in lines[1:]:
            out.line(indent, line)
        wanted = [("checked", row.looked)] if verbose or row.verdict in ("warning", "error") else []
        if row.fix and row.verdict != "ok":
            wanted.append(("fix", row.fix))
        for label, text in wanted:
            for number, line in enumerate(_wrapped(text, max(30, width - len(indent) - 11))):
                out.line(indent, (f"{label if number == 0 else '':<10} ", "bold"), line)
    if not quiet:
        out.line(_closing(rows))


def _wrapped(text: str, width: int) -> list[str]:
    return [line for part in text.splitlines() or [""] for line in wrapped(visible(part), width)]


def _closing(rows: Sequence[Check]) -> str:
    counts = {v: sum(row.verdict == v for row in rows) for v in ("error", "warning")}
    found = ", ".join(
        f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count
    )
    return f"{len(rows)} check{'s' if len(rows) != 1 else ''}: {found or 'no problems'}."


def as_json(rows: Sequence[Check]) -> str:
    """The checks as a document; docs/doctor.md describes it."""
    return json.dumps({"format": FORMAT, "checks": [_row(row) for row in rows]}, indent=2)


def _row(row: Check) -> dict[str, Any]:
    return {
        "name": row.name,
        "verdict": row.verdict,
        "looked_at": row.looked,
        "found": row.found,
        "fix": row.fix or None,
        "rules": list(row.rules),
    }


def bundle(rows: Sequence[Check], machine: Machine) -> str:
    """All that a bug report needs, as Markdown, with secrets masked."""
    facts = {
        "distlint": __version__,
        "Python": f"{python()} ({platform.python_implementation()})",
        "system": f"{machine.system} {machine.release}, {platform.machine()}",
        "container": "yes" if machine.in_container else "no",
        "torch built for": machine.built_for,
        **machine.packages,
    }
    environment = masked_all(machine.environment, _REPORTED)
    parts = [
        "# distlint doctor",
        _fenced(facts),
        "## Checks",
        "\n".join(_markdown(row) for row in rows),
        "## Environment",
        _fenced(environment) if environment else "None of the relevant variables is set.",
    ]
    for command in (["nvidia-smi"], ["nvidia-smi", "topo", "-m"], ["df", "-h", "/dev/shm"]):
        text = machine.run(command)
        if text:
            parts += [f"## {' '.join(command)}", _fence(masked_text(text.strip()))]
    return "\n\n".join(parts) + "\n"


def _fenced(facts: Mapping[str, str]) -> str:
    return _fence("\n".join(f"{name}: {_indented(value)}" for name, value in facts.items()))


def _fence(text: str) -> str:
    """A text as a block of code, whatever backticks it holds."""
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    return f"{fence}\n{text}\n{fence}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _markdown(row: Check) -> str:
    found = _indented(masked_text(row.found))
    fix = f" Fix: {masked_text(row.fix)}" if row.fix and row.verdict != "ok" else ""
    return f"- **{row.verdict}** {row.name} ({masked_text(row.looked)}): {found}{fix}"
