"""Pages that stand alone: no network, readable in light and dark, usable with a keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from distlint import __version__
from distlint.output.style import visible

STYLE = """
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14171c); --raised: light-dark(#f5f6f8, #1c2128);
  --line: light-dark(#d5d9e0, #343b46); --text: light-dark(#1b1f26, #e3e7ee);
  --quiet: light-dark(#565f6d, #9aa4b3); --link: light-dark(#0b57b8, #7db4ff);
  --error: light-dark(#b3131f, #ff8b8f); --error-ground: light-dark(#fde8e9, #47181c);
  --warning: light-dark(#8a5300, #f2b95c); --warning-ground: light-dark(#fdf1d8, #3d2d10);
  --info: light-dark(#07606e, #67cfdf); --info-ground: light-dark(#def3f6, #10343a);
  --add: light-dark(#0d6b2e, #74d18f); --add-ground: light-dark(#e0f5e6, #123420);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 5rem; }
body { margin: 0 auto; padding: 1.5rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; overflow-wrap: anywhere; }
a { color: var(--link); } code, pre { font-family: var(--mono); font-size: .87em; }
pre { margin: 0; overflow-x: auto; } .quiet { color: var(--quiet); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
footer { margin-top: 3rem; color: var(--quiet); font-size: .85rem; }
.spoken, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
.skip:focus { position: absolute; z-index: 2; top: .5rem; left: .5rem; padding: .4rem .8rem;
  background: var(--ground); }
@media print {
  :root { color-scheme: light; } * { print-color-adjust: exact; }
  body { max-width: none; padding: 0; } .skip { display: none; }
  details::details-content { display: block; content-visibility: visible; }
  pre { white-space: pre-wrap; overflow: visible; overflow-wrap: anywhere; }
  h2, h3, summary { break-after: avoid; }
}
"""

_FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_INLINE = re.compile(r"`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)")


def document(title: str, body: str, style: str = "", script: str = "") -> str:
    """A whole page; its policy lets the browser load nothing and run this script only."""
    allowed = f"'sha256-{_digest(script)}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(title)}</title>",
            f"<style>{STYLE}{style}</style>",
            "</head>",
            "<body>",
            body,
            f"<footer>distlint {text(__version__)}</footer>",
            *([f"<script>{script}</script>"] if script else []),
            "</body>",
            "</html>",
            "",
        ]
    )


def written(page: str) -> str:
    """The page in characters that every stream takes."""
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def text(value: object) -> str:
    """Text that is only text in a page, without control characters."""
    return escape(visible(str(value)))


def markdown(source: str) -> str:
    """The Markdown that rules use: headings, paragraphs, lists, code."""
    parts = _FENCE.split(source)
    return "\n".join(
        scrolled(text_block(part), "Code") if index % 2 else "\n".join(_blocks(part))
        for index, part in enumerate(parts)
    )


def skip(target: str, label: str) -> str:
    """A link for the keyboard, seen once it has the focus."""
    return f'<a class="skip" href="#{target}">{label}</a>'


def scrolled(content: str, label: str, kind: str = "") -> str:
    """Lines that may be too long for the window, which the keyboard can scroll, too."""
    style = f' class="{kind}"' if kind else ""
    return f'<pre{style} role="group" tabindex="0" aria-label="{text(label)}">{content}</pre>'


def text_block(source: str) -> str:
    return "\n".join(text(line) for line in source.splitlines())


def _blocks(source: str) -> Iterator[str]:
    for block in re.split(r"\n{2,}", source.strip()):
        if block.startswith("#"):
            yield f"<h3>{inline(block.lstrip('# '))}</h3>"
        elif block.startswith("- "):
            items = re.split(r"\n- ", block[2:])
            yield "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>"
        elif block:
            yield f"<p>{inline(block)}</p>"


def inline(source: str) -> str:
    """A line of Markdown: code between backticks, and links."""
    found = []
    at = 0
    for match in _INLINE.finditer(source):
        found.append(text(source[at : match.start()].replace("\n", " ")))
        code, label, address = match.groups()
        if code is not None:
            found.append(f"<code>{text(code)}</code>")
        elif address.startswith("https://"):
            found.append(f'<a href="{text(address)}">{text(label)}</a>')
        else:  # a page of the documentation, which is not here
            found.append(text(label))
        at = match.end()
    return "".join([*found, text(source[at:].replace("\n", " "))])


def _digest(script: str) -> str:
    import base64
    import hashlib

    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
