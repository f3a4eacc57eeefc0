"""``distlint server``, as an editor and its user notice it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from distlint.rules.general.incomplete_analysis import IncompleteAnalysis
from tests.engine.own_rule import CONFIG, FILE, SCRIPT
from tests.server.client import PROGRAM, RICH, Editor, edited

BUGGY = """\
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.barrier()
dist.destroy_process_group()
"""
CLEAN = BUGGY.replace("if dist.get_rank() == 0:\n    dist", "dist")
LONG = "".join(
    f"def f{n}(rank):\n    if rank == {n}:\n        dist.barrier()\n" for n in range(300)
)
"""Takes seconds to analyse."""
ROW, COLUMN = 3, 0
"""Where the branch of BUGGY stands, counted from 0 as the protocol does."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(BUGGY)
    return path


def codes(diagnostics: list[dict[str, object]]) -> list[object]:
    return [each["code"] for each in diagnostics]


def _range(start: tuple[int, int], end: tuple[int, int]) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": start[0], "character": start[1]},
        "end": {"line": end[0], "character": end[1]},
    }


def quick_fix(actions: list[dict[str, object]], word: str) -> dict[str, object]:
    return next(each for each in actions if word in str(each["title"]))


def test_findings_are_shown_with_the_path_of_the_other_ranks(script: Path) -> None:
    with Editor(script.parent, program=(PROGRAM, "server")) as editor:
        editor.open(script)
        (found,) = editor.diagnostics(script)
        assert found["code"] == "DST101"
        assert found["source"] == "distlint"
        assert found["severity"] == 1
        assert found["range"]["start"] == {"line": ROW, "character": COLUMN}
        told = {each["message"]: each["location"] for each in found["relatedInformation"]}
        assert any(text.startswith("the other ranks: ") for text in told)
        assert told["rank 0: barrier: dist.barrier()"]["uri"] == script.as_uri()
        assert told["rank 0: barrier: dist.barrier()"]["range"]["start"]["line"] == ROW + 1


def test_an_incomplete_analysis_is_a_hint(script: Path) -> None:
    (example,) = IncompleteAnalysis.bad
    script.write_text(example.code.replace("  # expect: DST002", ""))
    with Editor(script.parent) as editor:
        editor.open(script)
        found = {each["code"]: each for each in editor.diagnostics(script)}
    assert found["DST002"]["severity"] == 4
    assert "nested too deeply" in found["DST002"]["message"]


def test_what_no_parser_survives_is_a_finding_and_the_server_goes_on(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        editor.diagnostics(script)
        editor.change(script, f"{BUGGY}x = {'lambda: ' * 5000}1\n")
        (found,) = editor.diagnostics(script)
        assert found["code"] == "DST000"
        assert found["range"]["start"]["line"] == BUGGY.count("\n")
        editor.change(script, BUGGY)
        assert codes(editor.diagnostics(script)) == ["DST101"]


def test_an_editor_that_shows_no_related_places_reads_them_in_the_message(script: Path) -> None:
    with Editor(script.parent, capabilities={}) as editor:
        editor.open(script)
        (found,) = editor.diagnostics(script)
        assert "rank 0: barrier: dist.barrier() (line 5)" in found["message"]
        assert found.get("relatedInformation") is None


def test_an_edit_takes_the_finding_away_and_closing_clears_it(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        editor.change(script, CLEAN)
        assert editor.diagnostics(script) == []
        editor.change(script, "def (")
        assert codes(editor.diagnostics(script)) == ["DST000"]
        editor.notify("textDocument/didClose", textDocument={"uri": script.as_uri()})
        while editor.published.get(timeout=60).get("version") is not None:
            pass


def test_the_newest_version_wins(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        editor.diagnostics(script)
        for _ in range(3):  # each comes while the one before is analysed
            editor.change(script, BUGGY + LONG)
            time.sleep(0.1)
        editor.change(script, CLEAN)
        told = editor.published.get(timeout=60)
        assert (told["version"], told["diagnostics"]) == (5, [])


def test_an_edit_ends_the_analysis_of_the_text_before(script: Path) -> None:
    with Editor(script.parent) as editor:
        started = time.monotonic()
        editor.open(script, BUGGY + LONG)
        assert editor.diagnostics(script)
        whole = time.monotonic() - started
        editor.change(script, BUGGY + LONG + "\n")
        time.sleep(whole / 8)
        started = time.monotonic()
        editor.change(script, CLEAN)
        assert editor.diagnostics(script) == []
        assert time.monotonic() - started < whole / 2


def test_an_editor_may_ask_for_diagnostics(script: Path) -> None:
    capabilities = {
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": True}},
    }
    document = {"uri": script.as_uri()}
    with Editor(script.parent, capabilities=capabilities) as editor:
        editor.open(script)
        report = editor.request("textDocument/diagnostic", textDocument=document)
        assert codes(report["items"]) == ["DST101"]
        again = editor.request(
            "textDocument/diagnostic", textDocument=document, previousResultId=report["resultId"]
        )
        assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        editor.change(script, CLEAN)
        report = editor.request("textDocument/diagnostic", textDocument=document)
        assert report["items"] == []
        assert editor.published.empty()


def test_the_quick_fix_makes_the_text_right(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        found = editor.diagnostics(script)
        fix = quick_fix(editor.actions(script, found, "quickfix"), "unsafe")
        (change,) = fix["edit"]["documentChanges"]  # type: ignore[index]
        assert change["textDocument"] == {"uri": script.as_uri(), "version": 1}
        editor.change(script, edited(BUGGY, change["edits"]))
        assert editor.diagnostics(script) == []
        assert editor.actions(script, found, "quickfix") == []  # they are of another text


def test_unsafe_fixes_can_be_kept_back(script: Path) -> None:
    with Editor(script.parent, options={"unsafeFixes": False}) as editor:
        editor.open(script)
        titles = [each["title"] for each in editor.actions(script, editor.diagnostics(script))]
        assert titles == ["Ignore DST101 (collective-in-rank-branch) on this line"]


def test_ignore_on_this_line(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        action = quick_fix(editor.actions(script, editor.diagnostics(script)), "Ignore")
        edits = action["edit"]["documentChanges"][0]["edits"]  # type: ignore[index]
        text = edited(BUGGY, edits)
        assert text.splitlines()[ROW].endswith(":  # distlint: ignore[DST101]")
        editor.change(script, text)
        assert editor.diagnostics(script) == []


def test_a_script_that_shows_the_hang_is_written_next_to_the_file(script: Path) -> None:
    workspace = {**RICH["workspace"]}
    workspace["workspaceEdit"] = {"documentChanges": True, "resourceOperations": ["create"]}
    with Editor(script.parent, capabilities={**RICH, "workspace": workspace}) as editor:
        editor.open(script)
        found = editor.diagnostics(script)
        action = quick_fix(editor.actions(script, found, "quickfix"), "script that shows")
        action = editor.request("codeAction/resolve", **action)
        create, change = action["edit"]["documentChanges"]  # type: ignore[index]
        uri = script.with_name(f"{script.stem}_{ROW + 1}_DST101.py").as_uri()
        assert (create["kind"], create["uri"]) == ("create", uri)
        assert change["textDocument"]["uri"] == uri
        text = change["edits"][0]["newText"]
        assert f"if rank == 0:  # line {ROW + 1}: if " in text
        compile(text, "reproducer", "exec")


def test_an_editor_that_cannot_create_files_is_offered_no_script(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        titles = [each["title"] for each in editor.actions(script, editor.diagnostics(script))]
        assert not any("script" in title for title in titles)


COMMANDS: dict[str, Any] = {
    **RICH,
    "workspace": {**RICH["workspace"], "executeCommand": {}},
    "window": {"showDocument": {"support": True}},
}


def show_ranks(editor: Editor, path: Path | str, found: list[dict[str, object]]) -> str:
    """The page that the editor is asked to open."""
    action = quick_fix(editor.actions(path, found, "quickfix"), "Show the ranks")
    command: Any = action["command"]
    editor.request(
        "workspace/executeCommand", command=command["command"], arguments=command["arguments"]
    )
    (shown,) = editor.shown
    assert shown["external"]
    return Path(unquote(urlsplit(shown["uri"]).path)).read_text("utf-8")


def test_the_page_of_the_ranks_has_the_text_that_is_not_saved(script: Path) -> None:
    with Editor(script.parent, capabilities=COMMANDS) as editor:
        editor.open(script, f"# not saved\n{BUGGY}")
        page = show_ranks(editor, script, editor.diagnostics(script))
        assert "ranks diverge" in page
        assert "# not saved" in page
        assert editor.messages == []
        (shown,) = editor.shown
    assert not Path(unquote(urlsplit(shown["uri"]).path)).exists()


def test_the_page_shows_the_script_or_function_of_the_finding(script: Path) -> None:
    def bug(name: str) -> str:
        return f"def {name}():\n    if dist.get_rank() == 0:\n        dist.barrier()\n\n\n"

    text = f"import torch.distributed as dist\n\n\n{bug('evaluate')}{bug('save')}"
    with Editor(script.parent, capabilities=COMMANDS) as editor:
        editor.open(script, text)
        _, second = editor.diagnostics(script)
        page = show_ranks(editor, script, [second])
        assert "train.py::save" in page
        assert "train.py::evaluate" not in page


def test_an_editor_that_opens_no_pages_is_told_where_it_is(script: Path) -> None:
    with Editor(script.parent, capabilities={**COMMANDS, "window": {}}) as editor:
        editor.open(script)
        action = quick_fix(editor.actions(script, editor.diagnostics(script)), "Show the ranks")
        command: Any = action["command"]
        editor.request(
            "workspace/executeCommand", command=command["command"], arguments=command["arguments"]
        )
        (message,) = editor.messages
        page = Path(message.removeprefix("distlint: the ranks are shown in "))
        assert "ranks diverge" in page.read_text("utf-8")


def test_an_editor_without_commands_is_not_offered_the_page(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        actions = editor.actions(script, editor.diagnostics(script))
        assert not any("Show" in each["title"] for each in actions)


def test_a_command_that_makes_no_sense_opens_no_page(script: Path) -> None:
    with Editor(script.parent, capabilities=COMMANDS) as editor:
        editor.open(script)
        editor.diagnostics(script)
        uri = script.as_uri()
        for where in (
            None,
            1,
            {},
            {"uri": uri},
            {"uri": f"{uri}x", "row": 4},
            {"uri": 3, "row": 4},
        ):
            editor.request(
                "workspace/executeCommand", command="distlint.showRanks", arguments=[where]
            )
        assert editor.shown == []


@pytest.mark.parametrize("resolves", [True, False])
def test_fix_all_applies_the_safe_fixes_only(script: Path, resolves: bool) -> None:
    text = "x = 1  # distlint: ignore[DST101]\n" + BUGGY + "y = 1  # distlint: ignore[DST102]\n"
    capabilities = RICH if resolves else {}
    with Editor(script.parent, capabilities=capabilities) as editor:
        editor.open(script, text)
        editor.diagnostics(script)
        (action,) = editor.actions(script, [], "source.fixAll")
        assert action["kind"] == "source.fixAll.distlint"
        if resolves:
            assert "edit" not in action
            action = editor.request("codeAction/resolve", **action)
            edits = action["edit"]["documentChanges"][0]["edits"]
        else:
            edits = action["edit"]["changes"][script.as_uri()]
        assert edited(text, edits) == "x = 1\n" + BUGGY + "y = 1\n"


def test_hover_explains_a_finding_and_an_ignore_comment(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        shown = editor.hover(script, ROW, COLUMN)
        assert "rank 0: barrier: dist.barrier()" in shown
        assert "## What is reported" in shown
        editor.change(script, "x = 1  # distlint: ignore[unsynced-break]\n")
        assert "unsynced-break (DST102)" in editor.hover(script, 0, 30)
        assert editor.hover(script, 0, 0) == ""


def test_hover_on_a_collective_tells_which_ranks_reach_it(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        assert "reached by **rank 0, not ranks 1-3**" in editor.hover(script, ROW + 1, 12)
        editor.change(script, CLEAN)
        assert "reached by **all ranks**" in editor.hover(script, ROW, 8)
        editor.change(script, f"{CLEAN}\ndef unused():\n    dist.all_reduce(1)\n")
        assert "reached by **all ranks** (trace of `unused`)" in editor.hover(script, ROW + 4, 12)


def test_inlay_hints_are_there_when_asked_for(script: Path) -> None:
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    for wanted in (True, False):
        with Editor(script.parent, options={"inlayHints": wanted}) as editor:
            editor.open(script)
            hints = editor.request(
                "textDocument/inlayHint",
                textDocument={"uri": script.as_uri()},
                range=everything,
            )
            labels = [(each["position"]["line"], each["label"]) for each in hints or ()]
            assert ((ROW + 1, "rank 0, not ranks 1-3") in labels) is wanted


def test_an_unsaved_import_counts(tmp_path: Path) -> None:
    train, middle, utils = (tmp_path / f"{name}.py" for name in ("train", "middle", "utils"))
    train.write_text(
        "import torch.distributed as dist\nfrom middle import main\n"
        "dist.init_process_group()\nif main():\n    dist.barrier()\n"
    )
    middle.write_text(
        "import torch.distributed as dist\nimport utils\ndef main():\n"
        "    return utils.first(dist.get_rank())\n"
    )
    utils.write_text("def first(rank):\n    return True\n")
    with Editor(tmp_path) as editor:
        editor.open(train)
        assert editor.diagnostics(train) == []
        editor.open(utils)
        editor.change(utils, "def first(rank):\n    return rank == 0\n")
        while codes(editor.diagnostics(train)) != ["DST101"]:
            pass
        editor.notify("textDocument/didClose", textDocument={"uri": utils.as_uri()})
        while editor.diagnostics(train):  # what is on the disk holds again
            pass


def test_an_edit_of_a_file_that_calls_an_open_one_counts(tmp_path: Path) -> None:
    train, utils = tmp_path / "train.py", tmp_path / "utils.py"
    calls = "import torch.distributed as dist\nfrom utils import keep\n"
    calls += "dist.init_process_group()\n{}keep()\n"
    train.write_text(calls.format("if dist.get_rank() == 0: "))
    utils.write_text("import os\ndef keep():\n    os.makedirs('kept')\n")
    with Editor(tmp_path) as editor:
        editor.open(utils)
        assert editor.diagnostics(utils) == []
        editor.open(train)
        editor.change(train, calls.format(""))
        while codes(editor.diagnostics(utils)) != ["DST414"]:
            pass
        editor.change(train, "import torch\n")
        while editor.diagnostics(utils):
            pass


def test_an_editor_that_asks_is_told_when_another_file_concerns_it(tmp_path: Path) -> None:
    train, utils = tmp_path / "train.py", tmp_path / "utils.py"
    train.write_text(f"import utils\n{BUGGY.replace('dist.get_rank() == 0', 'utils.first()')}")
    utils.write_text("import torch.distributed as dist\ndef first():\n    return True\n")
    capabilities = {
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": True}},
    }
    with Editor(tmp_path, capabilities=capabilities) as editor:
        editor.open(train)
        editor.open(utils)
        for text, expected in (("dist.get_rank() == 0", ["DST101"]), ("True", [])):
            told = editor.refreshes
            editor.change(utils, utils.read_text().replace("True", text))
            deadline = time.monotonic() + 60
            found: list[object] = [None]
            while found != expected and time.monotonic() < deadline:
                while editor.refreshes == told and time.monotonic() < deadline:
                    time.sleep(0.01)
                told = editor.refreshes
                document = {"uri": train.as_uri()}
                report = editor.request("textDocument/diagnostic", textDocument=document)
                found = codes(report["items"])
            assert found == expected


def test_what_can_be_said_at_once_is_said_first(script: Path) -> None:
    """The hang as it was, without its fix, beside what the source tells of the new text."""
    with Editor(script.parent, options={"patience": 0}) as editor:
        editor.open(script)
        (whole,) = editor.diagnostics(script)
        save = "import torch\ntorch.save({}, 'a.pt')\nif"
        editor.change(script, BUGGY.replace("if", save))
        first = editor.diagnostics(script)
        assert codes(first) == ["DST406", "DST101"]
        assert first[1]["range"]["start"]["line"] == ROW + 2
        assert _lines(first[1]) == [line + 2 for line in _lines(whole)]
        assert not first[1]["data"].get("fix")
        last = editor.diagnostics(script)
        assert codes(last) == codes(first)
        assert last[1]["data"]["fix"]


def test_a_hang_that_an_edit_may_have_ended_is_gone_at_once(script: Path) -> None:
    with Editor(script.parent, options={"patience": 0}) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        editor.change(script, CLEAN)
        assert editor.diagnostics(script) == []
        editor.hover(script, ROW, COLUMN)  # the analysis has ended
        editor.change(script, BUGGY)
        assert editor.diagnostics(script) == []
        assert codes(editor.diagnostics(script)) == ["DST101"]


def test_an_editor_that_asks_is_told_to_ask_again(script: Path) -> None:
    capabilities = {
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": True}},
    }
    document = {"uri": script.as_uri()}
    with Editor(script.parent, capabilities=capabilities, options={"patience": 0}) as editor:
        editor.open(script)
        editor.request("textDocument/diagnostic", textDocument=document)
        editor.change(script, CLEAN)
        editor.request("textDocument/diagnostic", textDocument=document)
        editor.hover(script, ROW, COLUMN)  # the analysis has ended
        told = editor.refreshes
        editor.change(script, BUGGY)
        deadline = time.monotonic() + 60
        while editor.refreshes == told and time.monotonic() < deadline:
            time.sleep(0.01)
        report = editor.request("textDocument/diagnostic", textDocument=document)
        assert codes(report["items"]) == ["DST101"]


def test_an_editor_that_cannot_be_told_to_ask_again_waits(script: Path) -> None:
    capabilities = {"textDocument": {"diagnostic": {}}}
    document = {"uri": script.as_uri()}
    with Editor(script.parent, capabilities=capabilities, options={"patience": 0}) as editor:
        editor.open(script, CLEAN)
        report = editor.request("textDocument/diagnostic", textDocument=document)
        assert report["items"] == []
        editor.change(script, BUGGY)
        report = editor.request("textDocument/diagnostic", textDocument=document)
        assert codes(report["items"]) == ["DST101"]


def _lines(found: dict[str, Any]) -> list[int]:
    places = (each["location"]["range"] for each in found["relatedInformation"])
    return [place["start"]["line"] for place in places]


def test_saved_files_that_are_not_open_are_watched(script: Path) -> None:
    utils = script.with_name("utils.py")
    utils.write_text("import torch.distributed as dist\ndef first():\n    return True\n")
    text = f"import utils\n{BUGGY.replace('dist.get_rank() == 0', 'utils.first()')}"
    with Editor(script.parent) as editor:
        editor.open(script, text)
        assert editor.diagnostics(script) == []
        utils.write_text(utils.read_text().replace("True", "dist.get_rank() == 0"))
        change = {"uri": utils.as_uri(), "type": 2}
        editor.notify("workspace/didChangeWatchedFiles", changes=[change])
        assert codes(editor.diagnostics(script)) == ["DST101"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_in_the_units_that_were_agreed_on(script: Path, encoding: str) -> None:
    text = BUGGY.replace("if dist", "if '😀é' and dist")
    capabilities = {**RICH, "general": {"positionEncodings": [encoding]}}
    with Editor(script.parent, capabilities=capabilities) as editor:
        assert editor.server["positionEncoding"] == encoding
        editor.open(script, text)
        (found,) = editor.diagnostics(script)
        line = text.splitlines()[ROW].removesuffix(":")
        wide = {"utf-8": line.encode(), "utf-16": line.encode("utf-16-le")}.get(encoding)
        units = len(line) if wide is None else len(wide) // {"utf-8": 1, "utf-16": 2}[encoding]
        assert found["range"]["end"]["character"] == units
        assert "## What is reported" in editor.hover(script, ROW, units - 1)
        assert editor.hover(script, ROW, units + 1) == ""


def test_a_form_feed_ends_no_line(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script, f"# \x0c \x0b\u2028\n{BUGGY}")
        (found,) = editor.diagnostics(script)
        assert found["range"]["start"]["line"] == ROW + 1


@pytest.mark.parametrize("watches", [True, False])
def test_a_change_of_the_configuration_is_noticed(script: Path, watches: bool) -> None:
    with Editor(script.parent, capabilities=RICH if watches else {}) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        config = script.parent / "distlint.toml"
        config.write_text('ignore = ["DST101"]\n')
        if watches:
            assert editor.registered[0]["method"] == "workspace/didChangeWatchedFiles"
            change = {"uri": config.as_uri(), "type": 1}
            editor.notify("workspace/didChangeWatchedFiles", changes=[change])
        else:
            editor.change(script, f"{BUGGY}\n")
        assert editor.diagnostics(script) == []


@pytest.mark.parametrize("watches", [True, False])
def test_a_baseline_that_is_written_in_a_terminal_is_noticed(script: Path, watches: bool) -> None:
    baseline = script.parent / "known.json"
    baseline.write_text('{"version": 1, "findings": {}}')
    (script.parent / "distlint.toml").write_text('baseline = "known.json"\n')
    with Editor(script.parent, capabilities=RICH if watches else {}) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        script.write_text(BUGGY)
        subprocess.run([PROGRAM, "check", "--update-baseline"], cwd=script.parent, check=True)
        if watches:
            patterns = [each["globPattern"] for each in editor.watchers()]
            assert any(baseline.match(pattern) for pattern in patterns)
            change = {"uri": baseline.as_uri(), "type": 2}
            editor.notify("workspace/didChangeWatchedFiles", changes=[change])
        else:
            editor.change(script, f"{BUGGY}\n")
        assert editor.diagnostics(script) == []


def test_json_that_jobs_write_starts_no_analysis(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        metrics = {"uri": script.with_name("metrics.json").as_uri(), "type": 1}
        editor.notify("workspace/didChangeWatchedFiles", changes=[metrics])
        assert editor.hover(script, ROW, COLUMN)  # which waits for an analysis that has begun
        assert editor.published.empty()


def test_a_broken_configuration_is_said_once_and_mended(script: Path) -> None:
    config = script.parent / "distlint.toml"
    config.write_text("ignroe = []\n")
    with Editor(script.parent) as editor:
        editor.open(script)
        assert editor.diagnostics(script) == []
        editor.change(script, f"{BUGGY}\n")
        assert editor.diagnostics(script) == []
        (message,) = editor.messages
        assert "unknown key `ignroe`; did you mean `ignore`?" in message
        config.write_text("")
        editor.change(script, BUGGY)
        assert codes(editor.diagnostics(script)) == ["DST101"]


def test_own_catalogue_files_are_watched(script: Path) -> None:
    folder = script.parent
    (folder / "distlint.toml").write_text('catalogue = ["own.toml"]\n')
    own = folder / "own.toml"
    own.write_text("")
    with Editor(folder) as editor:
        editor.open(script, "import mycluster\n" + BUGGY.replace("dist.barrier", "mycluster.meet"))
        assert editor.diagnostics(script) == []
        own.write_text(
            'modules = ["mycluster"]\n[[collective]]\ncall = "mycluster.meet"\nkind = "barrier"\n'
        )
        editor.notify("workspace/didChangeWatchedFiles", changes=[{"uri": own.as_uri(), "type": 2}])
        assert codes(editor.diagnostics(script)) == ["DST101"], editor.messages


def test_rules_of_a_project_can_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTLINT_NO_PROJECT_RULES", "1")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "lab.py").write_text("raise SystemExit(1)\n")
    (tmp_path / "distlint.toml").write_text(CONFIG)
    script = tmp_path / "train.py"
    script.write_text(BUGGY)
    with Editor(tmp_path) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        (said,) = editor.messages
        assert "custom rules of the project were not run: " in said


def test_rules_of_the_projects_own_are_asked_and_watched(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    rule = tmp_path / "tools" / "lab.py"
    rule.write_text(FILE)
    (tmp_path / "distlint.toml").write_text(CONFIG)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    changed = {"uri": rule.as_uri(), "type": 2}
    with Editor(tmp_path) as editor:
        editor.open(script)
        (found,) = editor.diagnostics(script)
        assert found["code"] == "LAB001"
        (said,) = editor.messages
        assert "running custom rules of the project: " in said
        assert "lab.py" in said
        assert "holds its nodes" in editor.hover(script, 2, 1)
        rule.write_text(FILE.replace("LAB001", "LAB0042"))
        editor.notify("workspace/didChangeWatchedFiles", changes=[changed])
        (found,) = editor.diagnostics(script)
        assert found["code"] == "LAB0042"
        rule.write_text("import nothing_there\n")
        editor.notify("workspace/didChangeWatchedFiles", changes=[changed])
        assert editor.diagnostics(script) == []
        assert any("nothing_there" in message for message in editor.messages)


def test_a_long_chain_of_branches_is_analysed(script: Path) -> None:
    chain = "".join(f"elif mode == {n}:\n    pass\n" for n in range(800))
    text = f"{BUGGY}mode = 5\nif mode:\n    dist.barrier()\n{chain}"
    with Editor(script.parent) as editor:
        editor.open(script, text)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        assert editor.messages == []


def test_excluded_files_are_left_alone(script: Path) -> None:
    (script.parent / "distlint.toml").write_text('extend-exclude = ["train.py"]\n')
    with Editor(script.parent) as editor:
        editor.open(script)
        assert editor.diagnostics(script) == []


def test_each_folder_has_its_own_settings(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    files = []
    for folder in folders:
        folder.mkdir()
        files.append(folder / "train.py")
        files[-1].write_text(BUGGY)
    (folders[0] / "distlint.toml").write_text("")

    def settings(scope: str | None) -> object:
        return {"ignore": ["DST101"]} if scope and scope.endswith("two") else {}

    with Editor(*folders, settings=settings) as editor:
        for file in files:
            editor.open(file)
            found = editor.diagnostics(file)
            assert codes(found) == ([] if file == files[1] else ["DST101"])


def test_an_editor_is_asked_to_tell_of_settings_that_change(script: Path) -> None:
    capabilities = {"workspace": {"didChangeConfiguration": {"dynamicRegistration": True}}}
    with Editor(script.parent, capabilities=capabilities) as editor:
        editor.open(script)
        editor.diagnostics(script)
        (registered,) = editor.registered
        assert registered["method"] == "workspace/didChangeConfiguration"
        assert registered["registerOptions"] == {"section": "distlint"}


def test_settings_can_change_and_a_misspelt_one_is_named(script: Path) -> None:
    table: dict[str, object] = {}
    with Editor(script.parent, settings=lambda scope: dict(table)) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        table["select"] = ["DST2"]
        editor.notify("workspace/didChangeConfiguration", settings=None)
        assert editor.diagnostics(script) == []
        table["slect"] = []
        editor.notify("workspace/didChangeConfiguration", settings=None)
        editor.diagnostics(script)
        assert any("did you mean `select`?" in message for message in editor.messages)


def test_the_server_ends_at_once_though_an_analysis_runs(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script, BUGGY + 20 * LONG)
        time.sleep(0.5)
        before = time.perf_counter()
    assert editor.process.returncode == 0
    assert time.perf_counter() - before < 2


def test_a_question_that_is_taken_back_is_answered_at_once(script: Path) -> None:
    with Editor(script.parent) as editor:
        editor.open(script, BUGGY + LONG)
        position = {"line": ROW, "character": COLUMN}
        document = {"uri": script.as_uri()}
        question = editor.ask("textDocument/hover", textDocument=document, position=position)
        editor.notify("$/cancelRequest", id=question)
        assert editor.refusal(question)["code"] == -32800
        assert editor.published.empty()  # the analysis goes on
        assert codes(editor.diagnostics(script))[0] == "DST101"


def test_questions_are_answered_while_an_analysis_runs(script: Path) -> None:
    other = script.with_name("other.txt")
    with Editor(script.parent) as editor:
        editor.open(script, BUGGY + LONG)
        before = time.perf_counter()
        assert editor.hover(other, 0, 0) == ""
        answered = time.perf_counter() - before
        editor.diagnostics(script)
        assert answered < (time.perf_counter() - before) / 2


IMPORTED = "import torch.distributed as dist\ndef first():\n    return {}\n"
IMPORTS = f"import utils\n{BUGGY.replace('dist.get_rank() == 0', 'utils.first()')}"
UNWATCHED = {**RICH, "workspace": {"configuration": True}}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_edits_of_parts_of_a_text(script: Path, encoding: str) -> None:
    capabilities = {**RICH, "general": {"positionEncodings": [encoding]}}
    wide = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[encoding]
    text = f"x = '\x0c😀'\r\n{CLEAN}y = ("  # a form feed ends no line
    with Editor(script.parent, capabilities=capabilities) as editor:
        editor.open(script, text)
        assert codes(editor.diagnostics(script)) == ["DST000"]
        guard = "\r\nif dist.get_rank() == 0:\r\n    dist.barrier()"
        changes = [
            {"range": _range((0, 7 + wide), (0, 7 + wide)), "text": "; y = 2"},
            {"range": _range((3, 31), (4, 14)), "text": guard},
            {"range": _range((7, 0), (9, 0)), "text": ""},  # beyond the end
        ]
        editor.change_parts(script, changes)
        (found,) = editor.diagnostics(script)
        assert (found["code"], found["range"]["start"]["line"]) == ("DST101", 4)
        assert editor.hover(script, 5, 10).startswith("`dist.barrier` is reached by **rank 0")


def test_a_file_that_changes_while_its_importer_is_analysed_is_not_missed(script: Path) -> None:
    utils = script.with_name("utils.py")
    utils.write_text(IMPORTED.format("True"))
    with Editor(script.parent) as editor:
        editor.open(script, IMPORTS)
        assert editor.diagnostics(script) == []
        for answer, expected in (("dist.get_rank() == 0", 1), ("True", 0)) * 2:
            editor.change(script, f"{IMPORTS}{LONG}# {answer}\n")
            time.sleep(0.3)
            utils.write_text(IMPORTED.format(answer))
            change = {"uri": utils.as_uri(), "type": 2}
            editor.notify("workspace/didChangeWatchedFiles", changes=[change])
            found = [each["range"]["start"]["line"] for each in editor.diagnostics(script)]
            assert found.count(ROW + 1) == expected


def test_without_a_watch_the_next_edit_brings_out_what_changed(script: Path) -> None:
    utils = script.with_name("utils.py")
    with Editor(script.parent, capabilities=UNWATCHED) as editor:
        editor.open(script, IMPORTS)
        assert editor.diagnostics(script) == []
        for answer, expected in (("dist.get_rank() == 0", ["DST101"]), ("True", [])):
            utils.write_text(IMPORTED.format(answer))  # the first time, it comes into being
            editor.change(script, f"{IMPORTS}# {answer}\n")
            assert codes(editor.diagnostics(script)) == expected
        utils.unlink()
        editor.change(script, IMPORTS.replace("utils.first()", "dist.get_rank() == 0"))
        assert codes(editor.diagnostics(script)) == ["DST101"]


def test_without_a_watch_what_a_configuration_extends_counts(script: Path) -> None:
    shared = script.with_name("shared.toml")
    shared.write_text("")
    script.with_name("distlint.toml").write_text('extend = "shared.toml"\n')
    with Editor(script.parent, capabilities=UNWATCHED) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        shared.write_text('ignore = ["DST101"]\n')
        editor.change(script, f"{BUGGY}\n")
        assert editor.diagnostics(script) == []


def test_closing_takes_back_what_was_never_saved_and_hardly_seen(script: Path) -> None:
    utils = script.with_name("utils.py")
    utils.write_text(IMPORTED.format("True"))
    with Editor(script.parent) as editor:
        editor.open(script, IMPORTS)
        assert editor.diagnostics(script) == []
        editor.open(utils)
        editor.diagnostics(utils)
        editor.change(utils, IMPORTED.format("dist.get_rank() == 0") + LONG)
        editor.change(script, f"{IMPORTS}\n")  # which is analysed first, with that text
        assert codes(editor.diagnostics(script)) == ["DST101"]
        editor.notify("textDocument/didClose", textDocument={"uri": utils.as_uri()})
        assert editor.diagnostics(script) == []


def test_settings_may_come_among_those_of_other_servers(script: Path) -> None:
    with Editor(script.parent, capabilities={}) as editor:
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        sent: dict[str, object] = {"pylsp": {"plugins": {}}, "distlint": {"ignore": ["DST101"]}}
        editor.notify("workspace/didChangeConfiguration", settings=sent)
        assert editor.diagnostics(script) == []
        del sent["distlint"]
        editor.notify("workspace/didChangeConfiguration", settings=sent)
        assert codes(editor.diagnostics(script)) == ["DST101"]
        assert editor.messages == []


def test_hints_are_those_of_the_newest_text(script: Path) -> None:
    with Editor(script.parent, options={"inlayHints": True}) as editor:
        editor.open(script)
        editor.diagnostics(script)
        where = {"textDocument": {"uri": script.as_uri()}, "range": _range((0, 0), (9, 0))}
        for text, expected in ((CLEAN, ["all ranks"]), (BUGGY, ["rank 0, not ranks 1-3"])) * 3:
            before = editor.ask("textDocument/inlayHint", **where)
            editor.change(script, text)
            asked = editor.ask("textDocument/inlayHint", **where)
            assert editor.answer(before) is not None
            labels = [each["label"] for each in editor.answer(asked)]
            assert labels[0] == expected[0]


@pytest.mark.parametrize("length", [b"99999999999", b"9" * 40, b"-1", b"NaN", b"0", b""])
def test_a_header_that_makes_no_sense_is_skipped(script: Path, length: bytes) -> None:
    with Editor(script.parent) as editor:
        stream = editor.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: " + length + b"\r\n\r\n" + b"x" * 100_000 + b"\r\n")
        editor.open(script)
        assert codes(editor.diagnostics(script)) == ["DST101"]
