"""YAML with positions, in the meaning that PyYAML gives it."""

from __future__ import annotations

import pytest
import yaml

from distlint.source.settings.values import UNKNOWN, Malformed, Mapping, Scalar, plain
from distlint.source.settings.yaml_text import block_lines, parse, resolved


@pytest.mark.parametrize(
    "word",
    "no No NO yes on off true False null ~ 1 -3 0o7 010 0x1f 1_000 1.5 1e-5 1.0e-5 .5 a 'no' 1:30"
    " 08 + .inf -. ._".split(),
)
def test_plain_words_mean_what_pyyaml_makes_of_them(word: str) -> None:
    wanted = yaml.safe_load(f"a: {word}")["a"]
    if word in ("1:30", ".inf"):
        pytest.skip("sexagesimal numbers and infinity stand in no configuration")
    if word.startswith("'"):
        wanted = "'no'"
    assert resolved(word) == wanted or wanted == "'no'"


def test_a_number_without_digits_is_not_known() -> None:
    assert resolved("0b_") is UNKNOWN


def test_positions_anchors_and_merge_keys() -> None:
    text = "base: &base\n  a: 1\n  b: 2\nown:\n  <<: *base\n  b: 3  # here\n"
    parsed = parse(text)
    assert isinstance(parsed.root, Mapping)
    own = parsed.root.mapping("own")
    assert own is not None
    assert (own.value("a"), own.value("b")) == (1, 3)
    assert [entry.merged for entry in own.entries] == [True, True, False]
    entry = own.entry("b")
    assert entry is not None
    assert text[entry.start : entry.end] == "b"
    assert text[entry.value.start : entry.value.end] == "3"
    assert [text[c.start : c.end] for c in parsed.comments] == ["# here"]


def test_an_anchor_inside_of_itself_ends() -> None:
    parsed = parse("a: &a\n  b: *a\n")
    assert isinstance(parsed.root, Mapping)
    assert parsed.root.value("a", "b") is UNKNOWN


@pytest.mark.parametrize("hole", ["{{ x }}", '"{{ x }}"', "${X}", "$X"])
def test_holes_of_templates_are_not_known(hole: str) -> None:
    root = parse(f"a: {hole}\nb: 1\n").root
    assert isinstance(root, Mapping)
    assert root.value("a") is UNKNOWN
    assert root.value("b") == 1


def test_a_mistake_has_a_place() -> None:
    with pytest.raises(Malformed) as caught:
        parse("a: 1\n b: 2\n")
    assert caught.value.offset == 7


def test_a_hash_inside_a_string_is_no_comment() -> None:
    parsed = parse('a: "b # c"\nd: |\n  # text\ne: f#g # real\n')
    assert [c.start for c in parsed.comments] == [32]
    assert plain(parsed.root)["e"] == "f#g"


def test_the_lines_of_a_block_are_where_they_stand() -> None:
    text = "run: |\n  one\n\n    two\nnext: 1\n"
    root = parse(text).root
    assert isinstance(root, Mapping)
    node = root.node("run")
    assert isinstance(node, Scalar)
    lines = block_lines(text, node)
    assert [line for _, line in lines] == ["one", "", "  two"]
    assert all(text[start : start + len(line)] == line for start, line in lines)


def test_aliases_of_aliases_do_not_unfold_without_end() -> None:
    """Nine lists of nine aliases each, of the list before: 387 million values."""
    lines = ["a: &a [" + ", ".join("x" * 9) + "]"]
    for name, before in zip("bcdefghij", "abcdefghi", strict=True):
        lines.append(f"{name}: &{name} [" + ", ".join([f"*{before}"] * 9) + "]")
    root = parse("\n".join([*lines, "num_processes: 4", ""])).root
    assert isinstance(root, Mapping)
    assert root.value("num_processes") == 4
    assert root.value("b") == [["x"] * 9] * 9


@pytest.mark.parametrize(
    ("text", "second"),
    [("a: 1\n", None), ("---\na: 1\n...\n", None), ("a: 1\n---\nb: 2\n", 9), ("a: 1\n---\n", 9)],
)
def test_a_second_document_is_seen(text: str, second: int | None) -> None:
    assert parse(text).second == second
