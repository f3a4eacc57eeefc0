"""The site: it builds, its generated parts are fresh, and it loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from distlint.rules.registry import rules
from scripts import draw_pictures, generate_command_docs
from tests.support import ROOT


def test_the_reference_of_commands_is_up_to_date() -> None:
    wanted = generate_command_docs.page()
    assert generate_command_docs.PAGE.read_text("utf-8") == wanted, (
        "run: python -m scripts.generate_command_docs"
    )


def test_the_pictures_are_up_to_date() -> None:
    assert draw_pictures.differences() == [], "run: python -m scripts.draw_pictures"


def test_every_page_can_be_reached() -> None:
    configuration = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = re.findall(r"[\w./-]+\.md", configuration)
    there = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert there <= set(nav)
    assert yaml.safe_load(configuration)["theme"]["font"] is False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(  # not --quiet, which counts no warnings
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.campaign
def test_it_has_a_page_for_every_rule(site: Path) -> None:
    for code, rule in rules().items():
        page = (site / "rules" / f"{rule.name}.html").read_text("utf-8")
        assert f"{rule.name} ({code})" in page


@pytest.mark.campaign
def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(script|img|iframe)[^>]*\ssrc="https?:|<link[^>]*href="https?:""")
    for page in site.rglob("*.html"):
        found = loads.search(page.read_text("utf-8"))
        assert found is None, f"{page}: {found and found[0]}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", sheet.read_text("utf-8"))
