"""Every signature: its pattern, its words, and a log that shows it."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

from distlint import runtime
from distlint.diagnose import interruptions
from distlint.diagnose.signatures import FOLDER, WINDOW, Signature, fewest, needles, signatures
from distlint.rules.table import RESERVED
from tests.diagnose.conftest import Logs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXCERPTS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("excerpts.toml").read_text("utf-8")
)
ALL = list(signatures().values())
IDS = [signature.id for signature in ALL]


def test_the_numbers() -> None:
    invented = [s for s in ALL if s.role == "invented"]
    assert len(invented) == 13
    assert len(ALL) - len(invented) >= 102
    assert EXCERPTS.keys() == signatures().keys()


@pytest.mark.parametrize("signature", ALL, ids=IDS)
def test_its_excerpt_is_diagnosed(signature: Signature, logs: Logs) -> None:
    found = logs.read(EXCERPTS[signature.id])
    if signature.role == "invented":
        assert signature.id in {each.id for each in found.invented}
    elif signature.role == "notice":
        assert signature.id in {each.id for each in found.notices}
        assert found.level == signature.level
    elif signature.role == "summary":
        assert found.cause is not None
        assert found.cause.id == "exit"
        assert not found.cause.sure
    elif signature.role == "ended":
        assert found.cause is not None
        assert found.cause.id == interruptions.ID
        assert found.level == "warning"
    else:
        assert found.cause is not None
        assert found.cause.id == signature.id
        assert found.level == "error"


@pytest.mark.parametrize("signature", ALL, ids=IDS)
def test_its_literals_let_it_through(signature: Signature) -> None:
    text = EXCERPTS[signature.id]
    assert any(literal in text for literal in signature.literals)
    assert any(needle in text.encode() for needle in needles())


@pytest.mark.parametrize("signature", ALL, ids=IDS)
def test_what_it_points_to_exists(signature: Signature) -> None:
    assert set(signature.rules) <= RESERVED.keys()
    assert set(signature.utilities) <= set(dir(runtime))
    assert set(signature.instead) <= signatures().keys()
    assert signature.title
    assert signature.meaning
    assert signature.help or signature.role == "invented"
    wanted = set(re.findall(r"\{(\w+)\}", signature.meaning + signature.help))
    assert wanted <= signature.regex.groupindex.keys()


@pytest.mark.parametrize("signature", ALL, ids=IDS)
def test_no_text_makes_its_pattern_slow(signature: Signature) -> None:
    """Long lines that almost match: repeated literals and beginnings, runs of one character."""
    texts = [literal * 400 for literal in signature.literals]
    excerpt = EXCERPTS[signature.id].strip()
    texts += [excerpt[:cut] * 200 for cut in (len(excerpt) // 2, len(excerpt) - 1)]
    texts += [
        literal + filler * WINDOW
        for literal in signature.literals
        for filler in (" ", "1", "a", "1, ", "(", "\n", ": ", "[", "'")
    ]
    start = time.process_time()
    for text in texts:
        signature.match(text)
    assert time.process_time() - start < 0.5


def test_a_literal_is_never_lost_to_the_shared_words() -> None:
    literals = ["a collective", "collective it is", "no collective", "something of its own", "own"]
    found = fewest(literals)
    assert all(any(word in literal.encode() for word in found) for literal in literals)
    assert found == (b"collective", b"own")


def test_entries_of_another_format_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distlint.diagnose import signatures as module

    (tmp_path / "new.toml").write_text('format = 2\nchecked = ""\n')
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="format 2"):
        module.signatures.__wrapped__()


def test_the_files_say_what_they_were_checked_against() -> None:
    for path in FOLDER.glob("*.toml"):
        assert tomllib.loads(path.read_text("utf-8"))["checked"], path
