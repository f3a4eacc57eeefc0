"""Run axe-core on pages in Chromium: in light and dark, on a telephone, a tablet and a desktop.

    npm install --no-save axe-core
    python -m scripts.check_accessibility --axe node_modules/axe-core/axe.min.js PAGE [PAGE ...]

Prints each violation of the WCAG 2.2 (A and AA) and of axe's best practices, and pages wider than
the window. Everything that can be opened on a page is open. The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCHEMES = {"dark": 0, "light": 1}
"""The numbers by which Chromium knows the colour schemes."""

WIDTHS = (390, 1024, 1600)
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

_AUDIT = """
addEventListener("load", async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const found = await axe.run(document, {runOnly: {type: "tag", values: TAGS}});
  const said = found.violations.map(({id, nodes}) => {
    const [first] = [...nodes[0].any, ...nodes[0].all, ...nodes[0].none];
    return `${id} (${nodes.length}): ${nodes[0].html.slice(0, 120)}: ${first?.message}`;
  });
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) said.push(`wider than the window by ${over} pixels`);
  parent.postMessage({width: innerWidth, said, ran: found.passes.length}, "*");
});
"""

# A window of Chromium has at least 500 pixels; a frame may have fewer.
_FRAMES = """<!doctype html><html lang="en"><title>frames</title><body>
<output></output><script>
const all = [];
addEventListener("message", event => {
  all.push(event.data);
  document.querySelector("output").textContent = JSON.stringify(all);
});
</script>
"""


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


def violations(page: Path, axe: Path) -> Iterator[str]:
    """What axe finds in a page, each line with the scheme and the width."""
    with tempfile.TemporaryDirectory() as name:
        # Beside the page, so that what it loads is found.
        copy = page.with_name(f".{Path(name).name}-{page.name}")
        copy.write_text(_with_audit(page.read_text("utf-8"), axe), "utf-8")
        try:
            for scheme, number in SCHEMES.items():
                yield from _seen(copy, Path(name), scheme, number)
        finally:
            copy.unlink()


def _with_audit(content: str, axe: Path) -> str:
    audit = _AUDIT.replace("TAGS", json.dumps(TAGS))
    scripts = f'<script src="{axe.resolve().as_uri()}"></script><script>{audit}</script>'
    return _POLICY.sub("", content).replace("</body>", f"{scripts}</body>")


def _seen(page: Path, folder: Path, scheme: str, number: int) -> Iterator[str]:
    frames = folder / "frames.html"
    frames.write_text(
        _FRAMES
        + "".join(
            f'<iframe title="{width}" width="{width}" height="900" style="border: 0" '
            f'src="{page.resolve().as_uri()}"></iframe>'
            for width in WIDTHS
        )
    )
    options = (
        "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-sync "
        f"--disable-component-update --allow-file-access-from-files --window-size=1700,3000 "
        f"--blink-settings=preferredColorScheme={number} --virtual-time-budget=60000"
    )
    command = [str(chromium()), *options.split(), f"--user-data-dir={folder / scheme}"]
    ran = subprocess.run(
        [*command, "--dump-dom", frames.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answer = re.search(r"<output>(.+?)</output>", ran.stdout, re.DOTALL)
    results = json.loads(html.unescape(answer[1])) if answer else []
    if sorted(each["width"] for each in results) != list(WIDTHS):
        yield f"{scheme}: axe did not finish"
    for result in results:
        for line in result["said"] if result["ran"] else ["axe checked nothing"]:
            yield f"{scheme}, {result['width']} pixels: {line}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--axe", type=Path, required=True, help="axe.min.js of axe-core")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    if chromium() is None:
        parser.error("Chromium is not installed")
    count = 0
    for page in arguments.pages:
        for line in violations(page, arguments.axe):
            print(f"{page}: {line}", flush=True)
            count += 1
    print(f"{len(arguments.pages)} pages, {count} violations")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
