"""Insert, remove, move and wrap statements, whatever line they share with others.

Texts to insert are given without indentation; blocks inside them are indented by four spaces,
which become what the file indents by.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from distlint.fixers.draft import CannotFix, Draft

Statement = cst.BaseSmallStatement | cst.BaseCompoundStatement
Row = cst.SimpleStatementLine | cst.SimpleStatementSuite | cst.BaseCompoundStatement
"""What takes lines of its own: small statements side by side, or a compound statement."""

_UNIT = "    "


def statement_of(draft: Draft, node: cst.CSTNode) -> Statement:
    """The innermost statement that a node is or is in."""
    for found in (node, *draft.ancestors(node)):
        if isinstance(found, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return found
    raise CannotFix("not in a statement")


def siblings(draft: Draft, statement: Statement) -> list[Statement]:
    """All statements of the block that a statement is in, itself included, in their order."""
    block = block_of(draft, statement)
    if isinstance(block, cst.SimpleStatementSuite):
        return list(block.body)
    found: list[Statement] = []
    for row in block.body:
        found.extend(row.body if isinstance(row, cst.SimpleStatementLine) else [row])  # type: ignore[list-item]
    return found


def block_of(
    draft: Draft, statement: Statement
) -> cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite:
    """The block that a statement stands in; an ``elif`` stands in none."""
    row = _row(draft, statement)
    block = row if isinstance(row, cst.SimpleStatementSuite) else draft.parent(row)
    if not isinstance(block, (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)):
        raise CannotFix("an elif has no place of its own")
    return block


def indent_of(draft: Draft, statement: Statement) -> str:
    """The whitespace before the line that a statement is on."""
    row = _row(draft, statement)
    if isinstance(row, cst.SimpleStatementSuite):
        start = draft.line_start(draft.bounds(draft.parent(row))[0])
        line = draft.source[start : draft.line_end(start)]
        return line[: len(line) - len(line.lstrip(" \t\f"))] + draft.tree.default_indent
    start, _ = draft.bounds(row)
    indent = draft.source[draft.line_start(start) : start]
    if indent.strip(" \t\f"):
        raise CannotFix("not at the start of its line")
    return indent


def insert_before(draft: Draft, statement: Statement, *lines: str) -> None:
    """Put lines before a statement, above the comments that stand directly above it."""
    row = _row(draft, statement)
    block_of(draft, statement)
    indent = indent_of(draft, statement)
    if isinstance(row, cst.BaseCompoundStatement) or (
        isinstance(row, cst.SimpleStatementLine) and row.body[0] is statement
    ):
        at = _above_comments(draft, draft.line_start(draft.bounds(row)[0]))
        newline = draft.newline(at)
        draft.splice(
            at, at, "".join(f"{line}{newline}" for line in _laid_out(draft, indent, lines))
        )
        return
    _open_gap(draft, row, list(row.body).index(statement), indent, lines)  # type: ignore[arg-type]


def insert_after(draft: Draft, statement: Statement, *lines: str) -> None:
    """Put lines behind a statement, and behind the comments that belong to its block."""
    row = _row(draft, statement)
    block_of(draft, statement)
    indent = indent_of(draft, statement)
    if not isinstance(row, cst.BaseCompoundStatement):
        index = list(row.body).index(statement)  # type: ignore[arg-type]
        if index + 1 < len(row.body):
            _open_gap(draft, row, index + 1, indent, lines)
            return
    texts = _laid_out(draft, indent, lines)
    if isinstance(row, cst.SimpleStatementSuite):
        _expand(draft, row, indent)
    _append_lines(draft, _last_line(draft, statement), texts)


def insert_at_start(draft: Draft, block: cst.CSTNode, *lines: str) -> None:
    """Put lines at the start of a body: behind its docstring, global and nonlocal."""
    body = block if isinstance(block, cst.Module) else getattr(block, "body", None)
    rows = _small(body)
    previous: Statement | None = None
    for statement in rows:
        if not (
            isinstance(statement, (cst.Global, cst.Nonlocal))
            or (previous is None and _is_docstring(statement))
            or _is_future(statement)
        ):
            insert_before(draft, statement, *lines)
            return
        previous = statement
    if previous is None:
        raise CannotFix("an empty block")
    insert_after(draft, previous, *lines)


def remove(draft: Draft, *statements: Statement, comments: bool = False) -> None:
    """Remove statements of one block with their lines; ``pass`` stands where nothing is left.

    With ``comments`` those at the end of the lines and directly above go as well. Of empty lines on
    both sides those on one side stay.
    """
    doomed = set(statements)
    everything = siblings(draft, statements[0])
    if not doomed <= set(everything):
        raise CannotFix("not of one block")
    empties = len(doomed) == len(everything) and not isinstance(
        block_of(draft, statements[0]), cst.Module
    )
    rows = list(dict.fromkeys(_row(draft, statement) for statement in statements))
    if empties and (not comments or isinstance(rows[0], cst.SimpleStatementSuite)):
        draft.replace(statements[0], "pass")
        doomed.remove(statements[0])
        rows = list(dict.fromkeys(_row(draft, statement) for statement in statements[1:]))
        empties = False
    begin = behind = -1
    for index, row in enumerate(rows):
        if isinstance(row, cst.BaseCompoundStatement) or doomed.issuperset(row.body):
            # what shares a line is moved without its comments
            gone = comments and (isinstance(row, cst.BaseCompoundStatement) or len(row.body) == 1)
            start, end = _lines(draft, row, gone)
            kept = [] if gone else _comments(draft, start, end)
            left = ["pass"] if empties and index == 0 else []
            indent, newline = indent_of(draft, statements[0]), draft.newline(start)
            text = "".join(f"{indent}{line}{newline}" for line in (*kept, *left))
            begin, behind = begin if start == behind else start, end
            if not text and row is not _row(draft, everything[-1]):
                end = _past_gap(draft, begin, end)
            draft.splice(start, end, text)
        else:
            _remove_beside(draft, row, doomed)


def _past_gap(draft: Draft, start: int, end: int) -> int:
    """Behind as many empty lines as there are before a stretch of lines."""
    above, at = 0, start
    while at > 0 and not draft.source[draft.line_start(at - 1) : at].strip():
        above, at = above + 1, draft.line_start(at - 1)
    while above and draft.next_line(end) > end:
        if draft.source[end : draft.next_line(end)].strip():
            break
        above, end = above - 1, draft.next_line(end)
    return end


def prepend(draft: Draft, statement: Statement, text: str) -> None:
    """Put whole lines, as ``moved_text`` makes them, before a statement and its comments."""
    row = _row(draft, statement)
    block_of(draft, statement)
    if not isinstance(row, cst.BaseCompoundStatement) and row.body[0] is not statement:
        raise CannotFix("the place shares a line with other statements")
    at = _above_comments(draft, draft.line_start(draft.bounds(row)[0]))
    draft.splice(at, at, text)


def move_before(draft: Draft, target: Statement, *statements: Statement) -> None:
    """Move statements of one block, with the comments directly above each, before another one."""
    inner, outer = indent_of(draft, statements[0]), indent_of(draft, target)
    text = "".join(moved_text(draft, statement, inner, outer) for statement in statements)
    prepend(draft, target, text)
    remove(draft, *statements, comments=True)


def append(draft: Draft, statement: Statement, text: str) -> None:
    """Put whole lines, as ``moved_text`` makes them, behind a statement."""
    at = draft.next_line(_last_line(draft, statement))
    if at == draft.line_end(_last_line(draft, statement)):
        text = draft.newline(at) + text.rstrip("\r\n")
    draft.splice(at, at, text)


def put_in_place(draft: Draft, statement: cst.If, text: str) -> None:
    """Whole lines in the place of a branch; the comments of lines that go stay, above them."""
    start, end = _lines(draft, statement, comments=False)
    indent = indent_of(draft, statement)
    newline = draft.newline(start)
    kept = [c for c in _comments(draft, start, end) if c not in text]
    text = "".join(f"{indent}{comment}{newline}" for comment in kept) + text
    if end == len(draft.source) and not draft.source.endswith(("\n", "\r")):
        text = text.rstrip("\r\n")
    draft.splice(start, end, text)


def guard(draft: Draft, exit_: cst.If, header: str, *statements: Statement) -> None:
    """Turn a branch that only leaves into a header over the statements that follow it."""
    unit = draft.tree.default_indent
    start, body = draft.bounds(exit_)[0], exit_.body
    last = draft.bounds(_row(draft, statements[-1]))[1]
    if isinstance(body, cst.SimpleStatementSuite):
        draft.splice(start, draft.bounds(body.body[0])[1], header)
        at = draft.next_line(start)
    else:
        colon = draft.source.index(":", draft.bounds(exit_.test)[1])
        draft.splice(start, colon + 1, header)
        first = draft.next_line(colon)
        at = draft.bounds(exit_)[1]
        at = draft.next_line(at)
        kept = _comments(draft, first, at)
        indent, newline = indent_of(draft, exit_), draft.newline(start)
        while at < last and not draft.source[at : draft.line_end(at)].strip():
            at = draft.next_line(at)
        text = "".join(f"{indent}{unit}{comment}{newline}" for comment in kept)
        draft.splice(first, at, text)
    _indent(draft, at, last)


def _indent(draft: Draft, at: int, end: int) -> None:
    """Indent the lines of a stretch by one level, but for those inside strings."""
    while at < end:
        if draft.source[at : draft.line_end(at)].strip() and not draft.in_string(at):
            draft.splice(at, at, draft.tree.default_indent)
        following = draft.next_line(at)
        if following == at:
            break
        at = following


def _comments(draft: Draft, start: int, end: int) -> list[str]:
    """The comments of a stretch of whole lines."""
    rows = range(draft.row_of(start), draft.row_of(end - 1) + 1) if end > start else range(0)
    return [comment.text for comment in draft.comments if comment.row in rows]


def moved_text(draft: Draft, statement: Statement, inner: str, outer: str) -> str:
    """The lines of a statement as they read at another indentation, ends of lines included.

    The comments directly above come along unless the statement shares its line.
    """
    row = _row(draft, statement)
    start, end = draft.bounds(statement)
    if not isinstance(row, cst.BaseCompoundStatement) and (
        len(row.body) > 1 or isinstance(row, cst.SimpleStatementSuite)
    ):
        return f"{outer}{reindented(draft, start, end, inner, outer)}{draft.newline(start)}"
    begin, stop = _lines(draft, row, comments=True)
    text = outer + reindented(draft, begin + len(inner), stop, inner, outer)
    return text if text.endswith(("\n", "\r")) else text + draft.document.newline


def reindented(draft: Draft, start: int, end: int, inner: str, outer: str) -> str:
    """A stretch with another indentation, but for the lines that strings and continuations own."""
    parts = []
    at = start
    while at < end:
        stop = min(draft.next_line(at), end)
        line = draft.source[at:stop]
        if at != start and line.startswith(inner) and not draft.in_string(at):
            line = outer + line[len(inner) :]
        parts.append(line)
        at = stop
    return "".join(parts)


def wrap(draft: Draft, header: str, *statements: Statement) -> None:
    """Put neighbouring statements of one block under a header such as ``if rank == 0:``."""
    rows = {_row(draft, statement): None for statement in statements}
    unit = draft.tree.default_indent
    for row in rows:
        if not isinstance(row, cst.BaseCompoundStatement) and not set(statements).issuperset(
            row.body
        ):
            raise CannotFix("a line is shared with other statements")
    first, last = statements[0], statements[-1]
    indent = indent_of(draft, first)
    suite = _row(draft, first)
    if isinstance(suite, cst.SimpleStatementSuite):
        start = _colon_end(draft, suite)
        newline = draft.newline(start)
        text = f"{newline}{indent}{header}{newline}{indent}{unit}"
        draft.splice(start, draft.bounds(suite.body[0])[0], text)
        return
    start = draft.line_start(draft.bounds(suite)[0])
    draft.splice(start, start, f"{indent}{header}{draft.newline(start)}")
    _indent(draft, start, draft.bounds(_row(draft, last))[1])


# ---- lines


def _row(draft: Draft, statement: Statement) -> Row:
    if isinstance(statement, cst.BaseCompoundStatement):
        return statement
    row = draft.parent(statement)
    if not isinstance(row, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        raise CannotFix("a statement without a line")
    return row


def _small(body: object) -> list[Statement]:
    if isinstance(body, cst.SimpleStatementSuite):
        return list(body.body)
    found: list[Statement] = []
    for row in getattr(body, "body", ()):
        found.extend(row.body if isinstance(row, cst.SimpleStatementLine) else [row])
    return found


def _laid_out(draft: Draft, indent: str, lines: Sequence[str]) -> list[str]:
    """Lines at an indentation, their own in the unit of the file."""
    found = []
    for line in lines:
        stripped = line.lstrip(" ")
        levels = (len(line) - len(stripped)) // len(_UNIT)
        found.append(indent + draft.tree.default_indent * levels + stripped)
    return found


def _append_lines(draft: Draft, last_line: int, texts: Sequence[str]) -> None:
    """Put whole lines behind the line that an offset is in; a missing last newline stays so."""
    at = draft.next_line(last_line)
    newline = draft.newline(last_line)
    if draft.line_end(last_line) == at:
        draft.splice(at, at, "".join(newline + text for text in texts))
    else:
        draft.splice(at, at, "".join(text + newline for text in texts))


def _above_comments(draft: Draft, line: int) -> int:
    """The start of the first of the comment lines directly above a line, at its indentation."""
    while line > 0:
        above = draft.line_start(line - 1)
        text = draft.source[above:line]
        if not text.lstrip().startswith("#") or draft.in_string(above):
            break
        if draft.row_of(above) <= 2 and ("coding" in text or text.startswith("#!")):
            break
        line = above
    return line


def _last_line(draft: Draft, statement: Statement) -> int:
    """An offset in the last line of a statement, comments at the end of its block included."""
    _, end = draft.bounds(_row(draft, statement))
    indent = len(indent_of(draft, statement).expandtabs())
    last = at = end
    if not isinstance(statement, cst.BaseCompoundStatement):
        return last
    while draft.next_line(at) > at and draft.line_end(at) != draft.next_line(at):
        at = draft.next_line(at)
        text = draft.source[at : draft.line_end(at)].expandtabs()
        if text.strip() and not (
            text.lstrip().startswith("#") and len(text) - len(text.lstrip()) > indent
        ):
            break
        if text.strip():
            last = at
    return last


def _lines(draft: Draft, row: Row, comments: bool) -> tuple[int, int]:
    """From the start of the first line of a row of statements to behind its last newline."""
    start, end = draft.bounds(row)
    first = draft.line_start(start)
    return _above_comments(draft, first) if comments else first, draft.next_line(end)


def _remove_beside(
    draft: Draft, row: cst.SimpleStatementLine | cst.SimpleStatementSuite, doomed: set[Statement]
) -> None:
    """Remove small statements that share their line with others which stay."""
    kept = [small for small in row.body if small not in doomed]
    start, end = draft.bounds(row.body[0])[0], draft.bounds(row.body[-1])[1]
    if list(row.body[: len(kept)]) == kept:
        draft.splice(draft.bounds(kept[-1])[1], end, "")
        return
    draft.splice(start, end, "; ".join(draft.text(small) for small in kept))


def _colon_end(draft: Draft, suite: cst.SimpleStatementSuite) -> int:
    """Behind the colon before a one-line suite."""
    start, _ = draft.bounds(suite.body[0])
    at = draft.source.rindex(":", 0, start)
    if draft.source[at + 1 : start].strip(" \t\f\\\r\n"):
        raise CannotFix("something stands between the colon and the statement")
    return at + 1


def _expand(draft: Draft, suite: cst.SimpleStatementSuite, indent: str) -> None:
    """Put a one-line suite on a line of its own."""
    start = _colon_end(draft, suite)
    draft.splice(start, draft.bounds(suite.body[0])[0], draft.newline(start) + indent)


def _open_gap(
    draft: Draft,
    row: cst.SimpleStatementLine | cst.SimpleStatementSuite,
    index: int,
    indent: str,
    lines: Sequence[str],
) -> None:
    """Put lines before the statement of this index, which stands behind others or a colon."""
    newline = draft.newline(draft.bounds(row.body[0])[0])
    texts = "".join(f"{newline}{line}" for line in _laid_out(draft, indent, lines))
    if isinstance(row, cst.SimpleStatementSuite):
        if index == 0:
            start = _colon_end(draft, row)
            draft.splice(start, draft.bounds(row.body[0])[0], f"{texts}{newline}{indent}")
            return
        _expand(draft, row, indent)
    before, after = draft.bounds(row.body[index - 1])[1], draft.bounds(row.body[index])[0]
    draft.splice(before, after, f"{texts}{newline}{indent}")


def _is_docstring(statement: Statement) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(
        statement.value, (cst.SimpleString, cst.ConcatenatedString)
    )


def _is_future(statement: Statement) -> bool:
    return (
        isinstance(statement, cst.ImportFrom)
        and isinstance(statement.module, cst.Name)
        and statement.module.value == "__future__"
    )
