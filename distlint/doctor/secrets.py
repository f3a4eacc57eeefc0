"""Values that must not leave the machine in a report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

HIDDEN = "<masked>"

_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|SIGNATURE|DSN|WEBHOOK", re.I
)
_VALUES = re.compile(
    r"\b(?:hf_\w{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|sk-[\w-]{8,}|xox[abpr]-[\w-]{8,}"
    r"|nvapi-[\w-]{8,}|wandb_v\d_\w{8,}|AKIA[0-9A-Z]{12,}|ASIA[0-9A-Z]{12,}|AIza[\w-]{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|[0-9a-fA-F]{40,}\b)"
)
_LOGIN = re.compile(r"(?<=://)\S+@")  # up to the last @: passwords may hold one, and slashes
_WORDS = r"[\w-]*(?:key|token|secret|passw|pwd|credential|auth)[\w-]*"
_GIVEN = rf"--?{_WORDS} |\b{_WORDS}=|{_WORDS}[\"']\s?:\s?|\bauthorization:\s?(?:bearer |basic )?"
_OPTION = re.compile(rf"({_GIVEN})(\S+)", re.I)


def masked(name: str, value: str) -> str:
    """The value of a variable, without what may be a secret."""
    return HIDDEN if _NAMES.search(name) and value else masked_text(value)


def masked_text(text: str) -> str:
    """A text without logins in addresses, tokens of known shape, and the home folder's name."""
    text = _LOGIN.sub(f"{HIDDEN}@", text)
    text = _OPTION.sub(rf"\1{HIDDEN}", text)
    text = _VALUES.sub(HIDDEN, text)
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def masked_all(environment: Mapping[str, str], prefixes: tuple[str, ...]) -> dict[str, str]:
    """The variables of some families, masked."""
    return {
        name: masked(name, value)
        for name, value in sorted(environment.items())
        if name.startswith(prefixes)
    }
