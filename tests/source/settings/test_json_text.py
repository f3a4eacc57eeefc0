"""JSON with positions: what DeepSpeed's reader takes is read, everything else has a place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distlint.source.settings.json_text import parse
from distlint.source.settings.values import UNKNOWN, Malformed, Mapping, plain

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('ab é"\\\n'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc_ é", min_size=1), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=200)
def test_whatever_json_writes_is_read_the_same(value: object, indent: int, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    parsed = parse(text)
    assert plain(parsed.root) == value
    assert not parsed.extensions


def root(text: str) -> Mapping:
    found = parse(text).root
    assert isinstance(found, Mapping)
    return found


def test_positions_are_those_of_the_text() -> None:
    text = '{\n  "añb": {"c": [1, "two"]},\n  "d": 1e-5\n}\n'
    entries = {entry.key: entry for entry in root(text).entries}
    assert [text[e.start : e.end] for e in entries.values()] == ['"añb"', '"d"']
    assert text[entries["d"].value.start : entries["d"].value.end] == "1e-5"


def test_what_hjson_adds_is_read_and_noted() -> None:
    text = "{\n  // a\n  # b\n  /* c */\n  a: 1,\n  'b': text\n  \"c\": NaN,\n}\n"
    parsed = parse(text)
    assert [word for word, _, _ in parsed.extensions] == [
        "a comment",
        "a comment",
        "a comment",
        "a key without quotes",
        "single quotes",
        "a string without quotes",
        "a missing comma",
        "`NaN`",
        "a trailing comma",
    ]
    assert plain(parsed.root)["b"] == "text"
    assert [text[c.start : c.end] for c in parsed.comments] == ["// a", "# b", "/* c */"]


@pytest.mark.parametrize("hole", ["${BATCH}", "{{ batch }}", "$BATCH", '"${BATCH}"', '"a{{ b }}"'])
def test_holes_of_templates_are_values_that_are_not_known(hole: str) -> None:
    assert root(f'{{"a": {hole}, "b": 1}}').value("a") is UNKNOWN


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "empty file", 0),
        ('{"a": 1', "this object is never closed", 0),
        ('{"a": [1, 2}', "missing `]` before this", 11),
        ('{"a" 1}', "expected `:` after `a`", 5),
        ('{"a": "b}', "unterminated string", 6),
        ('{"a": 1 "b": 2}', "missing comma", 7),
        ('{"a": 1} x', "unexpected text after the end of the value", 9),
        ('{"a": True}', None, 6),
        ('{"a": 1 /* x}', "unterminated comment", 8),
        ('{"a": "\\q"}', "invalid escape sequence `\\q`", 7),
        ("import os\n{}", None, 0),
    ],
)
def test_a_mistake_has_a_place(text: str, message: str | None, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        parse(text)
    assert caught.value.offset == offset
    assert message in (None, caught.value.message)


@given(st.text("{}[]\",:#/*'ab1 \n\\$", max_size=40))
@settings(max_examples=300)
def test_nothing_else_than_a_mistake_comes_of_any_text(text: str) -> None:
    offset = 0
    try:
        parse(text)
    except Malformed as error:
        offset = error.offset
    assert 0 <= offset <= len(text)


def test_a_key_that_stands_twice_is_seen() -> None:
    ((first, second),) = root('{"a": 1, "b": 2, "a": 3}').repeated()
    assert (first.start, second.start) == (1, 17)


def test_a_number_of_thousands_of_digits_is_not_known() -> None:
    root = parse('{"a": ' + "9" * 5000 + "}").root
    assert isinstance(root, Mapping)
    assert root.value("a") is UNKNOWN
