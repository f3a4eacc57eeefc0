"""``distlint server`` with a real editor."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.test_server import BUGGY

NEOVIM = shutil.which("nvim")

SESSION = """
local result = {}
local server = { name = "distlint", cmd = { SERVER, "server" }, root_dir = ROOT }
local client = vim.lsp.start_client(server)
vim.lsp.buf_attach_client(0, client)
local function wait(what, done)
  if not vim.wait(60000, done, 20) then
    result.failed = what
  end
end
wait("diagnostics", function() return #vim.diagnostic.get(0) == 1 end)
local found = vim.diagnostic.get(0)[1] or {}
result.message, result.row = found.message, (found.lnum or -1) + 1
vim.api.nvim_win_set_cursor(0, { 4, 3 })
result.titles = {}
vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    local title = options.format_item(item)
    table.insert(result.titles, title)
    if title:find("unsafe") then
      choose(item, 1)
    end
  end
end
local before = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.code_action()
wait("the fix", function() return vim.api.nvim_buf_get_changedtick(0) > before end)
wait("no diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
result.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") .. "\\n"
vim.fn.writefile({ vim.fn.json_encode(result) }, OUT)
vim.cmd("qall!")
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim_shows_the_finding_and_applies_the_fix(tmp_path: Path) -> None:
    assert NEOVIM is not None
    script, lua, out = (tmp_path / name for name in ("train.py", "session.lua", "out.json"))
    script.write_text(BUGGY)
    server = Path(sys.executable).with_name("distlint")
    words = {"SERVER": server, "ROOT": tmp_path, "OUT": out}
    heading = "".join(f"local {word} = {json.dumps(str(path))}\n" for word, path in words.items())
    lua.write_text(heading + SESSION)
    options = ["--headless", "--clean", "-n"]
    command = [NEOVIM, *options, str(script), "-c", f"luafile {lua}", "-c", "qall!"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert out.exists(), done.stderr
    result = json.loads(out.read_text())
    assert "failed" not in result, result
    assert result["row"] == 4
    assert "rank" in result["message"]
    assert "Ignore DST101 (collective-in-rank-branch) on this line" in result["titles"]
    assert result["text"] == BUGGY.replace(
        "if dist.get_rank() == 0:\n    dist.barrier()", "dist.barrier()"
    )
