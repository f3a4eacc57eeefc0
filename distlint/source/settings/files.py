"""Dockerfiles, Makefiles and workflows: where shell stands in them, and what variables they set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.source.settings.shell import Piece, Script, Setting, read
from distlint.source.settings.values import Comment, Entry, Mapping, Node, Parsed, Scalar, Sequence
from distlint.source.settings.yaml_text import block_lines

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:[^\s\\]|\\.)*)", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?")
_MAKE_EXPORT = re.compile(r"export[ \t]+([A-Za-z_]\w*)[ \t]*(?:[:?+]{0,3}=)[ \t]*(.*)")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}")
_SHELLS = ("bash", "sh")


def dockerfile(text: str) -> Script:
    """The instructions ``ENV``, ``RUN``, ``CMD`` and ``ENTRYPOINT`` of a Dockerfile."""
    found = Script()
    environment: list[Setting] = []
    for start, end in _instructions(text, found.comments):
        found.statements.append((start, end))
        match = _INSTRUCTION.match(text, start)
        word = match[1].upper() if match else ""
        if match and word == "ENV":
            new = list(_env(text, match.end(), end, (start, end)))
            environment += new
            found.settings += new
        elif match and word in ("RUN", "CMD", "ENTRYPOINT"):
            _shell(text, match.end(), end, found, environment)
    return found


def _shell(text: str, start: int, end: int, found: Script, environment: list[Setting]) -> None:
    while text.startswith("--", start):  # --mount=... and the like
        stop = re.compile(r"\S+\s+(?:\\\n\s*)?").match(text, start)
        start = stop.end() if stop else end
    if text.startswith("[", start):
        _exec_form(text, start, end, found, environment)
        return
    body: list[str] = []
    offsets: list[int] = []
    for line_start, line in _lines(text, start, end):
        if line.lstrip().startswith("#") and body:
            line = "\\".rjust(len(line.rstrip("\n"))) + "\n"
        body.append(line)
        offsets += range(line_start, line_start + len(line))
    _add(found, read(Piece("".join(body), (*offsets, end)), tuple(environment)))


def _exec_form(text: str, start: int, end: int, found: Script, environment: list[Setting]) -> None:
    """``["torchrun", "train.py"]``: the words of one command."""
    from distlint.source.settings.json_text import parse
    from distlint.source.settings.shell import Command, Word
    from distlint.source.settings.values import Malformed

    try:
        root = parse(text[start:end].replace("\\\n", "  ")).root
    except Malformed:
        return
    items = root.items if isinstance(root, Sequence) else ()
    words = tuple(
        Word(
            item.value if isinstance(item.value, str) else None,
            item.start + start + 1,
            item.end + start - 1,
            text[item.start + start + 1 : item.end + start - 1],
        )
        for item in items
        if isinstance(item, Scalar)
    )
    if words:
        found.commands.append(Command(words, start, end, (), tuple(environment)))


def _instructions(text: str, comments: list[Comment]) -> Iterator[tuple[int, int]]:
    """The offsets of each instruction, with the lines that continue it."""
    lines = list(_lines(text, 0, len(text)))
    index = 0
    while index < len(lines):
        start, line = lines[index]
        index += 1
        if line.lstrip().startswith("#"):
            at = start + line.index("#")
            comments.append(Comment(at, start + len(line.rstrip("\r\n"))))
            continue
        if not line.strip():
            continue
        until = _HEREDOC.search(line)
        end = start + len(line)
        while index < len(lines):
            if until:
                done = lines[index][1].strip() == until[1]
            else:
                inside = lines[index][1]
                if not line.rstrip().endswith("\\"):
                    break
                if inside.lstrip().startswith("#"):
                    inside = line  # a comment inside: the instruction goes on
                line = inside
                done = False
            end = lines[index][0] + len(lines[index][1])
            index += 1
            if done:
                break
        yield start, start + len(text[start:end].rstrip("\r\n"))


def _env(text: str, start: int, end: int, statement: tuple[int, int]) -> Iterator[Setting]:
    body = text[start:end]
    if not re.match(r"[A-Za-z_]\w*=", body):
        match = re.match(r"([A-Za-z_]\w*)[ \t]+(.*)", body, re.DOTALL)
        if match:
            yield _pair(match, start, statement, alone=True)
        return
    pairs = list(_PAIR.finditer(body))
    for match in pairs:
        yield _pair(match, start, statement, alone=len(pairs) == 1)


def _pair(match: re.Match[str], start: int, statement: tuple[int, int], *, alone: bool) -> Setting:
    raw = match[2].rstrip()
    value = raw[1:-1] if raw[:1] in "\"'" and len(raw) > 1 else raw.replace("\\ ", " ")
    return Setting(
        name=match[1],
        value=None if "$" in value else value,
        form="image",
        start=start + match.start(),
        end=start + match.start(2) + len(raw),
        name_start=start + match.start(1),
        name_end=start + match.end(1),
        value_start=start + match.start(2),
        value_end=start + match.start(2) + len(raw),
        statement=statement if alone else (0, 0),
    )


def makefile(text: str) -> Script:
    """The recipes and the exported variables of a Makefile."""
    found = Script()
    recipe: list[tuple[int, str]] = []
    continued = False
    for start, line in _lines(text, 0, len(text)):
        if line.startswith("\t") or (continued and recipe):
            recipe.append((start, line))
            continued = line.rstrip("\r\n").endswith("\\")
            if not continued:
                _recipe(recipe, found)
                recipe = []
            continue
        continued = False
        stripped = line.strip()
        if stripped.startswith("#"):
            at = start + line.index("#")
            found.comments.append(Comment(at, start + len(line.rstrip("\r\n"))))
        match = _MAKE_EXPORT.match(line)
        if match:
            bounds = (start, start + len(line.rstrip("\r\n")))
            found.statements.append(bounds)
            setting = _pair(match, start, bounds, alone=True)
            found.settings.append(setting)
    if recipe:
        _recipe(recipe, found)
    return found


def _recipe(lines: list[tuple[int, str]], found: Script) -> None:
    """One line of a recipe: what make takes off it or replaces is blanked, at the same length."""
    body: list[str] = []
    offsets: list[int] = []
    for number, (start, line) in enumerate(lines):
        cut = len(line) - len(line.lstrip("\t@-+ ")) if number == 0 else line.startswith("\t")
        body.append(line[cut:])
        offsets += range(start + cut, start + len(line))
    text = _without_make("".join(body))
    end = lines[-1][0] + len(lines[-1][1])
    environment = tuple(s for s in found.settings if s.form == "image")
    _add(found, read(Piece(text, (*offsets, end)), environment))


def _without_make(text: str) -> str:
    out = list(text)
    at = 0
    while at < len(text) - 1:
        if text[at] != "$":
            at += 1
        elif text[at + 1] == "$":  # a dollar for the shell
            out[at] = "\\" if text[at + 2 : at + 3] not in "({" else out[at]
            out[at : at + 2] = "_$" if text[at + 2 : at + 3].isalpha() else "__"
            at += 2
        elif text[at + 1] in "({":
            close = text.find(")" if text[at + 1] == "(" else "}", at)
            close = close if close > 0 else len(text) - 1
            if close - at >= 3:
                out[at : close + 1] = "${" + "_" * (close - at - 2) + "}"
            at = close + 1
        else:
            at += 2
    return "".join(out)


def workflow(text: str, parsed: Parsed) -> Script:
    """The variables (``env:``) and steps (``run:``) of a GitHub workflow or action."""
    found = Script(comments=list(parsed.comments))
    if parsed.root is not None:
        _steps(text, parsed.root, (), found, "bash")
    return found


def _steps(
    text: str, node: Node, environment: tuple[Setting, ...], found: Script, shell: str
) -> None:
    if isinstance(node, Sequence):
        for item in node.items:
            _steps(text, item, environment, found, shell)
        return
    if not isinstance(node, Mapping):
        return
    own = node.mapping("env")
    if own is not None:
        new = [_variable(text, entry) for entry in own.entries if isinstance(entry.value, Scalar)]
        found.settings += new
        found.statements += [setting.statement for setting in new]
        environment = (*environment, *new)
    for entry in node.entries:
        if entry.key == "run" and isinstance(entry.value, Scalar):
            named = node.value("shell")
            if named is None or str(named).partition(" ")[0] in ("", *_SHELLS):
                piece = _piece(text, entry.value)
                if piece is not None:
                    _add(found, read(piece, environment))
        elif entry.key != "env":
            _steps(text, entry.value, environment, found, shell)


def _variable(text: str, entry: Entry) -> Setting:
    node = entry.value
    assert isinstance(node, Scalar)
    written = text[node.start : node.end]
    value = written[1:-1] if written[:1] in "\"'" else written
    return Setting(
        name=entry.key,
        value=None if "$" in written or "\n" in written else value,
        form="image",
        start=entry.start,
        end=node.end,
        name_start=entry.start,
        name_end=entry.end,
        value_start=node.start,
        value_end=node.end,
        statement=(entry.start, node.end),
    )


def _piece(text: str, node: Scalar) -> Piece | None:
    """The shell in a scalar, with expressions of the workflow as variables that are not known."""
    if text[node.start : node.start + 1] in ("|", ">"):
        folded = text[node.start] == ">"
        parts: list[str] = []
        offsets: list[int] = []
        for start, line in block_lines(text, node):
            parts.append(line + (" " if folded else "\n"))
            offsets += range(start, start + len(line) + 1)
        body = "".join(parts)
    else:
        body = text[node.start : node.end]
        start = node.start
        if body.startswith(("'", '"')):
            if "\\" in body or body[0] * 2 in body[1:-1]:
                return None
            body, start = body[1:-1], start + 1
        offsets = list(range(start, start + len(body)))
    body = _EXPRESSION.sub(lambda match: "${" + "_" * (len(match[0]) - 3) + "}", body)
    return Piece(body, (*offsets, node.end)) if body else None


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    at = start
    for line in text[start:end].splitlines(keepends=True):
        yield at, line
        at += len(line)


def _add(found: Script, more: Script) -> None:
    found.settings += more.settings
    found.commands += more.commands
    found.comments += more.comments
    found.statements += more.statements
