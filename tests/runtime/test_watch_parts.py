"""Call sites, the store behind the board, and what the environment asks for."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from distlint.runtime.collective_watch import sites

CALLER = """\
import sys
from distlint.runtime.collective_watch import sites

def collective(*values, **more):
    return sites.path(sys._getframe(1))

def helper(value):
    return collective(value * 2,
                      op=2)

helped = helper([1, 2])
bare = collective()
"""


@pytest.fixture
def caller(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "caller.py"
    file.write_text(CALLER)
    names: dict[str, Any] = {}
    exec(compile(CALLER, str(file), "exec"), names)
    return names


def test_a_call_site_is_the_line_of_the_call(caller: dict[str, Any]) -> None:
    site, via = sites.resolve(caller["bare"])
    assert site is not None
    assert via is None
    assert (Path(site.file).name, site.line, site.function) == ("caller.py", 12, "<module>")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 does not know where a call ends")
def test_what_was_passed_is_taken_from_the_source(caller: dict[str, Any]) -> None:
    assert sites.arguments(caller["helped"])[:2] == ("value * 2", "[1, 2]")
    assert sites.arguments(caller["bare"])[0] == "collective"


def test_libraries_are_named_beside_the_users_line(tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "trainer.py"
    library.parent.mkdir()
    library.write_text("import sys\ndef reduce(take):\n    return take(sys._getframe(0))\n")
    script = tmp_path / "train.py"
    script.write_text("\nfound = reduce(take)\n")
    names: dict[str, Any] = {"take": sites.path}
    sys.path.append(str(library.parent))
    sites._packages.cache_clear()
    try:
        exec(compile(library.read_text(), str(library), "exec"), names)
        exec(compile(script.read_text(), str(script), "exec"), names)
        user, via = sites.resolve(names["found"])
    finally:
        sys.path.remove(str(library.parent))
        sites._packages.cache_clear()
    assert user is not None
    assert via is not None
    assert (Path(user.file).name, user.line) == ("train.py", 2)
    assert (Path(via.file).name, via.line) == ("trainer.py", 3)


def test_a_second_client_where_stores_cannot_be_cloned(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from torch._C._distributed_c10d import TCPStore

    from distlint.runtime.collective_watch import board

    server = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)

    class Old:
        host, port = "127.0.0.1", server.port

    client = board._second_tcp(Old())
    board.Board(client, "prefix/").set("key", "word")
    again = board.Board(board.second_client(server), "prefix/")
    assert again.get("key") == "word"
    assert again.get("nothing") is None
    assert [again.add("count", 2), again.add("count", 0)] == [2, 2]


def test_the_sums_of_strict_tell_who_came_and_whether_they_agree() -> None:
    pytest.importorskip("torch")
    from distlint.runtime.collective_watch.strict import _Fields

    for members in (2, 3, 64, 1024, 5000):
        fields = _Fields(members)
        own = fields.pack(0x89AB_CDEF, 0x1234_5678)
        total = own * members
        assert total < 1 << 63
        assert fields.count(total) == members
        assert fields.same_key(total, 0x89AB_CDEF)
        assert fields.payloads(total) == members * fields.cut(0x1234_5678)
        assert not fields.same_key(total - own + fields.pack(0x89AB_CDEE, 0), 0x89AB_CDEF)


def entries(log: Any, *ops: str) -> None:
    from distlint.runtime.collective_watch.journal import Entry

    for op in ops:
        log.calls.append(Entry(log.count + 1, op, (), None, None, ()))
        log.count += 1


def test_blocks_tell_where_rings_differ() -> None:
    from distlint.runtime.collective_watch.journal import BLOCK, GroupLog

    one, two = GroupLog("0", (0, 1)), GroupLog("0", (0, 1))
    entries(one, *["barrier"] * (3 * BLOCK + 5))
    entries(two, *["barrier"] * (BLOCK + 3), "gather", *["barrier"] * (2 * BLOCK))
    one.sum_up()
    two.sum_up()
    assert set(one.blocks) == set(two.blocks) == {1, 2, 3}
    assert [number for number in (1, 2, 3) if one.blocks[number] != two.blocks[number]] == [2]


def test_a_block_that_was_not_seen_whole_has_no_sum() -> None:
    from distlint.runtime.collective_watch.journal import BLOCK, RING, GroupLog

    log = GroupLog("0", (0, 1))
    entries(log, *["barrier"] * 10)
    log.sum_up()
    entries(log, *["barrier"] * (RING + 2 * BLOCK))
    log.sum_up()
    assert 1 not in log.blocks
    assert max(log.blocks) == log.count // BLOCK


def test_a_call_that_torch_refuses_is_not_counted() -> None:
    from distlint.runtime.collective_watch.journal import GroupLog

    log = GroupLog("0", (0, 1))
    entries(log, "barrier", "gather")
    log.sum_up()
    log.retract(log.calls[-1])
    entries(log, "broadcast")
    assert [entry.op for entry in log.calls] == ["barrier", "broadcast"]
    assert log.count == log.calls[-1].seq == 2


def test_the_table_of_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from distlint.runtime.collective_watch.environment import findings_of

    row = {"code": "DST101", "name": "n", "message": "m", "file": "/a.py", "line": 3}
    file = tmp_path / "findings.json"
    file.write_text(json.dumps([{**row, "related": [["/b.py", 4]]}]))
    (found,) = findings_of(str(file))
    assert found.places == {("/a.py", 3), ("/b.py", 4)}
    assert findings_of("") == ()
    file.write_text("[{}]")
    assert findings_of(str(file)) == ()
    assert str(file) in capsys.readouterr().err


def test_zero_does_not_start_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    from distlint.runtime.collective_watch import environment

    monkeypatch.setenv("DISTLINT_WATCH", "0")
    environment.start_from_environment()
    assert not environment._started


def test_an_exit_is_told_with_what_led_to_it() -> None:
    pytest.importorskip("torch")
    from distlint.runtime.collective_watch.watcher import how_it_ended

    def ended(status: int) -> str:
        try:
            try:
                raise ValueError("bad sample\nof many")
            finally:
                raise SystemExit(status)
        except SystemExit as error:
            return how_it_ended(error)

    here = r"at \S*test_watch_parts.py:\d+ in ended"
    wanted = rf"exited with status 3 {here}, after it raised ValueError: bad sample {here}"
    assert re.fullmatch(wanted, ended(3))
    assert re.fullmatch(rf"exited with status 0 {here}", ended(0))
