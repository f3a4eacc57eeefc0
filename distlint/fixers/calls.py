"""Keywords of calls."""

from __future__ import annotations

import libcst as cst

from distlint.fixers.draft import CannotFix, Draft


def argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """The argument that goes by a name, or stands at a position before any ``*``."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    if position is None:
        return None
    plain = [arg for arg in call.args if arg.keyword is None]
    if position < len(plain) and not any(arg.star for arg in plain[: position + 1]):
        return plain[position]
    return None


def set_keyword(
    draft: Draft, call: cst.Call, name: str, value: str, position: int | None = None
) -> None:
    """Pass ``name=value``, in place of what is passed under that name (or at that position)."""
    given = argument(call, name, position)
    if given is not None:
        draft.replace(given.value, value)
        return
    if any(arg.star == "**" for arg in call.args):
        raise CannotFix("what ** passes is not known")
    add_argument(draft, call, f"{name}={value}")


def add_argument(draft: Draft, call: cst.Call, text: str) -> None:
    """Put an argument behind the others; a call spread over lines gets it on its own line."""
    if not call.args:
        at = draft.bounds(call)[0] + draft.text(call).rindex("(") + 1
        draft.splice(at, at, text)
        return
    last = call.args[-1]
    if _is_bare_generator(call):
        raise CannotFix("a generator without brackets takes no argument beside it")
    end = draft.bounds(last.value)[1]
    comma = draft.bounds(last.comma)[1] if isinstance(last.comma, cst.Comma) else None
    start = draft.bounds(last)[0]
    first_line = draft.row_of(draft.bounds(call.func)[1])
    if draft.row_of(start) == first_line or draft.source[draft.line_start(start) : start].strip():
        at = end if comma is None else comma
        lead = ", " if comma is None else " "
        draft.splice(
            at, at, f"{lead}{text}" + ("," if comma is not None and _spread(draft, call) else "")
        )
        return
    indent = draft.source[draft.line_start(start) : start]
    line = draft.line_end(end if comma is None else comma)
    if comma is None and not draft.source[end:line].lstrip().startswith("#"):
        draft.splice(end, end, f",{draft.newline(end)}{indent}{text}")
        return
    if comma is None:
        draft.splice(end, end, ",")
    # behind the comment of the last argument
    draft.splice(line, line, f"{draft.newline(end)}{indent}{text}{',' if comma else ''}")


def remove_argument(draft: Draft, call: cst.Call, arg: cst.Arg) -> None:
    """Take an argument out with its comma, and with its line if it is alone there."""
    args = list(call.args)
    index = args.index(arg)
    start, end = draft.bounds(arg.keyword or arg.value)[0], draft.bounds(arg.value)[1]
    if isinstance(arg.comma, cst.Comma):
        end = draft.bounds(arg.comma)[1]
    line, after = draft.line_start(start), draft.source[end : draft.line_end(end)].strip()
    if not draft.source[line:start].strip() and (not after or after.startswith("#")):
        draft.splice(line, draft.next_line(end), "")
        return
    first, last = start, end
    if index + 1 < len(args):
        last = draft.bounds(args[index + 1])[0]
    elif index > 0:
        first, last = draft.bounds(args[index - 1].value)[1], draft.bounds(arg.value)[1]
    if draft.comments_in(first, last):  # that of a neighbour stays, and so does the comma
        first, last = start, end
    draft.splice(first, last, "")


def remove_keyword(draft: Draft, call: cst.Call, name: str) -> None:
    """Take a keyword argument out."""
    given = argument(call, name)
    if given is None:
        raise CannotFix(f"no argument {name}")
    remove_argument(draft, call, given)


def _is_bare_generator(call: cst.Call) -> bool:
    value = call.args[0].value
    return len(call.args) == 1 and isinstance(value, cst.GeneratorExp) and not value.lpar


def _spread(draft: Draft, call: cst.Call) -> bool:
    """Is the closing bracket on a line of its own, where a comma after the last one is usual?"""
    end = draft.bounds(call)[1] - 1
    return not draft.source[draft.line_start(end) : end].strip()
