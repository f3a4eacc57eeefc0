"""Values that must not leave the machine in a report.

Texts come from the environment and from programs, so they may be long and hostile: everything here
takes time in proportion to the length of the text. No pattern looks for an end that may be missing
from more than one start.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path

HIDDEN = "<masked>"

_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|SIGNATURE|DSN|WEBHOOK", re.I
)
_SHAPES = re.compile(
    r"\b(?:hf_\w{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|sk-[\w-]{8,}|xox[abpr]-[\w-]{8,}"
    r"|nvapi-[\w-]{8,}|wandb_v\d_\w{8,}|AKIA[0-9A-Z]{12,}|ASIA[0-9A-Z]{12,}|AIza[\w-]{20,}"
    r"|eyJ[\w-]{8,}[\w.-]*|[0-9a-fA-F]{40,}\b)"
)
"""Tokens that are known by how they look. One that begins to match always matches, or fails after a
few characters; hexadecimal digits begin once in each word."""

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_WORD = re.compile(r"\S+")
_BEFORE_A_LOGIN = "=\"'`(,;<>[{|"

_HINT = re.compile(
    r"key|token|secret|passw|passphrase|pass(?![a-z])|pwd|credential|auth|bearer|basic|cookie"
    r"|session|webhook|signature|dsn",
    re.I,
)
"""What the name of a secret holds."""
_CERTAIN = re.compile(
    r"(?:token|secrets?|pass|passwd|passwords?|passphrase|pwd|credentials?|auth|authorization"
    r"|bearer|cookie|webhook|signature|dsn|[\w-]key)(?:[_-]?(?:id|value|\d{1,3}))?\Z",
    re.I,
)
"""The end of a name that is certainly one of a secret: not that in `KeyError: ...`."""
_LONGEST = 40
"""Characters at the end of a name that `_CERTAIN` needs to see."""
_LONG = re.compile(r"passw|passphrase|secret|authorization|cookie", re.I)
"""Names of secrets that may hold spaces."""
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|negotiate|apikey|aws4-hmac-sha256) +", re.I)
_NAME = re.compile(r"[\w-]+")
_SEPARATOR = re.compile(
    r"(?P<quote>\\{0,3}[\"'])?(?P<before>\s{0,4})(?P<sign>=>|:=|=(?!=)|:(?!:))(?P<after>\s{0,8})"
)
_GAP = re.compile(r" {1,8}(?=[^\s-])")
_OPENING = re.compile(r"\\{0,3}[\"']")
_STRING = {q: re.compile(rf"{q}(?:[^{q}\\\n]|\\.)*{q}?") for q in "\"'"}
_BLOCK = re.compile(r"[|>][-+0-9]{0,3} *\n(?:[ \t]+[^\n]*(?:\n|$)|\n)*")
_AFTER_A_STRING = re.compile(r"[^\s,;}\])]*")

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def masked(name: str, value: str) -> str:
    """The value of a variable, without what may be a secret."""
    return HIDDEN if _NAMES.search(name) and value else masked_text(value)


def masked_all(environment: Mapping[str, str], prefixes: tuple[str, ...]) -> dict[str, str]:
    """The variables of some families, masked."""
    return {
        name: masked(name, value)
        for name, value in sorted(environment.items())
        if name.startswith(prefixes)
    }


def masked_text(text: str) -> str:
    """A text without logins, tokens, values that are named as secrets, and the home directory.

    Control characters are escaped, for they could hide parts of the text in a terminal.
    """
    text = _without_private_keys(_printable(text))
    text = _WORD.sub(lambda word: _without_login(word[0]), text)
    text = _Values(text).masked()
    text = _SHAPES.sub(HIDDEN, text)
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def _printable(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:  # a colour beside a token would make another word of it
        text = _TERMINAL.sub("", text)
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def _without_private_keys(text: str) -> str:
    parts = []
    at = 0
    while begin := _PRIVATE_KEY.search(text, at):
        parts += [text[at : begin.end()], "\n", HIDDEN, "\n"]
        at = text.find("-----END", begin.end())
        if at < 0:
            return "".join(parts)
    return "".join((*parts, text[at:]))


def _without_login(word: str) -> str:
    """A word without ``user:password@`` before a host, in an address or without a scheme.

    It is masked up to the last ``@``: passwords may hold one, and slashes.
    """
    at = word.rfind("@")
    scheme = word.find("://", 0, max(at, 0))
    if 0 <= scheme < at - 3:
        return f"{_without_login(word[:scheme])}://{HIDDEN}{word[at:]}"
    colon = word.find(":", 0, max(at, 0))
    start = max(word.rfind(each, 0, max(colon, 0)) for each in _BEFORE_A_LOGIN) + 1
    host = word[at + 1 : at + 2]
    if start < colon < at - 1 and (host.isalnum() or host == "["):
        return f"{word[:start]}{HIDDEN}{word[at:]}"
    return word


class _Values:
    """Masks what follows the name of a secret: ``--token x``, ``token=x``, ``"token": "x"``..."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._line_end = -1

    def masked(self) -> str:
        text = self.text
        parts = []
        done = at = 0
        while hint := _HINT.search(text, at):
            name = _NAME.match(text, hint.start())
            at = name.end() if name else hint.end()
            first = hint.start()
            while first > done and (text[first - 1].isalnum() or text[first - 1] in "_-"):
                first -= 1
            start = self._value(first, at)
            end = self._end(first, at, start) if start is not None else 0
            if start is not None and end > start:
                parts += [text[done:start], HIDDEN]
                done = at = end
        return "".join((*parts, text[done:]))

    def _value(self, first: int, end: int) -> int | None:
        """Where the value of a name begins, if one follows and the name says that it is secret."""
        text, name = self.text, self.text[first:end]
        sign = _SEPARATOR.match(text, end)
        if sign is not None:
            direct = sign["sign"] == "=" and not (sign["before"] or sign["after"])
            certain = _CERTAIN.search(name[-_LONGEST:])
            if not (direct or sign["quote"] or certain) or name.lower() == "basic":
                return None
            scheme = _SCHEME.match(text, sign.end())
            return scheme.end() if scheme else sign.end()
        gap = _GAP.match(text, end)
        if gap is None:
            return None
        secret = name.startswith("-") or name.lower() == "bearer"
        if secret or (name.lower() == "basic" and self._is_login(gap.end())):
            return gap.end()
        return None

    def _is_login(self, start: int) -> bool:
        """Do the credentials of HTTP's basic authorization stand here?"""
        word = _WORD.match(self.text, start)
        try:
            return word is not None and b":" in base64.b64decode(
                word[0].strip("\"',;"), validate=True
            )
        except (binascii.Error, ValueError):
            return False

    def _end(self, first: int, end: int, start: int) -> int:
        """Where the value that begins at ``start`` ends."""
        text, name = self.text, self.text[first:end]
        opening = _OPENING.match(text, start)
        if opening is not None:
            return self._end_of_string(opening[0], start)
        block = _BLOCK.match(text, start)
        if block is not None:
            return block.end()
        around = text[first - 1 : first]
        if around in ("'", '"') and text[end : end + 1] != around:  # 'Authorization: ...'
            closing = text.find(around, start, self._end_of_line(start))
            return closing if closing >= 0 else self._end_of_line(start)
        if _LONG.search(name) and ":" in text[end:start]:
            return self._end_of_line(start)
        word = _WORD.match(text, start)
        return word.end() if word else start

    def _end_of_string(self, quote: str, start: int) -> int:
        if len(quote) == 1:
            string = _STRING[quote].match(self.text, start)
            end = string.end() if string else start
        else:  # a string in a string
            end = self.text.find(quote, start + len(quote), self._end_of_line(start))
            end = end + len(quote) if end >= 0 else self._end_of_line(start)
        more = _AFTER_A_STRING.match(self.text, end)
        return more.end() if more else end

    def _end_of_line(self, at: int) -> int:
        if self._line_end < at:  # looked for once in each line
            found = self.text.find("\n", at)
            self._line_end = found if found >= 0 else len(self.text)
        return self._line_end
