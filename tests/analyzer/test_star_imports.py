"""Names that one of several star imports binds are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver

SCRIPT = """\
import torch.distributed as dist
{stars}

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    meet()
"""
MEETING = "import torch.distributed as dist\n\ndef meet():\n    dist.barrier()\n"


@pytest.mark.parametrize(
    ("stars", "found"),
    [
        ("from engine import *", True),
        ("from util import *\nfrom engine import *", True),
        ("from engine import *\nfrom util import *", True),
        ("from util import *\nfrom relay import *", True),
        ("from util import *", False),
    ],
    ids=["alone", "second", "first", "passed on", "elsewhere"],
)
def test_a_star_import_that_binds_the_name(stars: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "util.py").write_text("import os\n\ndef count(x):\n    return x\n")
    (tmp_path / "engine.py").write_text(MEETING)
    (tmp_path / "relay.py").write_text("from util import *\nfrom engine import *\n")
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(stars=stars))
    (tmp_path / "distlint.toml").touch()
    codes = {finding.code for finding in check_paths([script], Resolver()).findings}
    assert ("DST101" in codes) is found
