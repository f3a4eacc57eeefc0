"""The site: it builds, its generated parts are fresh, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from distlint.rules.registry import rules
from scripts import draw_pictures, generate_command_docs, generate_coverage, site_hooks
from scripts.check_accessibility import chromium, violations
from tests.output.test_html import contrast
from tests.support import ROOT

AUDITED = (
    "index.html",
    "output.html",
    "commands.html",
    "troubleshooting.html",
    "rules/index.html",
    "rules/collective-in-rank-branch.html",
)
"""Pages with what pages are made of: prose, tables, code, console output."""


def test_the_reference_of_commands_is_up_to_date() -> None:
    wanted = generate_command_docs.page()
    assert generate_command_docs.PAGE.read_text("utf-8") == wanted, (
        "run: python -m scripts.generate_command_docs"
    )


def test_the_table_of_frameworks_is_that_of_the_catalogue() -> None:
    assert generate_coverage.PAGE.read_text("utf-8") == generate_coverage.wanted(), (
        "run: python -m scripts.generate_coverage"
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


def test_a_key_scrolls_code_and_no_heading_is_empty() -> None:
    page = "<pre><span></span><code>x = 1</code></pre><p><code>x</code></p><th></th><th>name</th>"
    assert site_hooks.on_page_content(page) == (
        '<pre><span></span><code tabindex="0">x = 1</code></pre><p><code>x</code></p>'
        "<td></td><th>name</th>"
    )


def test_colours_of_code_stand_out_from_its_ground() -> None:
    sheet = (ROOT / "docs" / "extra.css").read_text("utf-8")
    for scheme, ground in (("default", "#f5f5f5"), ("slate", "#272a35")):
        rules = re.findall(rf'"{scheme}"\][^{{]*\{{([^}}]*)\}}', sheet)
        for colour in re.findall(r"color: #(\w+);", " ".join(rules)):
            full = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
            assert contrast(f"#{full}", ground) >= 4.5, (scheme, colour)


def test_each_part_of_the_navigation_has_a_name() -> None:
    navigation = (
        '<nav class="md-nav" data-md-level="1" aria-labelledby="__nav_4_label">\n'
        '<label class="md-nav__title" for="__nav_4">\n<span class="md-nav__icon md-icon"></span>\n'
        "  Reference\n</label>"
    )
    assert 'data-md-level="1" aria-label="Reference">' in site_hooks.on_post_page(navigation)


@pytest.mark.campaign
@pytest.mark.skipif(not os.environ.get("DISTLINT_TEST_AXE"), reason="takes axe-core, from npm")
@pytest.mark.parametrize("name", AUDITED)
def test_axe_finds_nothing(site: Path, name: str) -> None:
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    assert list(violations(site / name, Path(os.environ["DISTLINT_TEST_AXE"]))) == []
