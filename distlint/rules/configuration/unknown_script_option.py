"""DST832: options that the script of a launch line does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.catalogue.settings import launcher_options, nearest
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, launches, script_text
from distlint.rules.configuration._script_options import (
    Options,
    import_of_parser,
    makes_parser,
    options_of,
)
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.shell import Word

_LOCAL_RANK = ("--local_rank", "--local-rank")
_SILENT = ("use_env", "no_local_rank")
"""Options of launchers with which they pass no rank to the script."""


class UnknownScriptOption(SettingsRule):
    """A launch line gives the script an option that its parser does not know.

    ```bash
    torchrun --nproc_per_node 8 train.py --master_port 29501  # bad: an option of torchrun
    ```

    ## Use instead

    ```bash
    torchrun --nproc_per_node 8 --master_port 29501 train.py
    ```

    For the rank that a launcher passes, use torchrun, which sets `LOCAL_RANK`, or accept it:

    ```python
    parser.add_argument("--local_rank", "--local-rank", type=int)
    ```

    ## Why is this bad?

    `parse_args()` ends each process with "unrecognized arguments", after the job has waited for its
    nodes.

    ## What is reported

    - Options after the script that no `add_argument` of the script names, nor as an abbreviation.
    - `torch.distributed.launch` without `--use_env`, or the launcher of DeepSpeed, which pass
      `--local_rank` (torch 2.0 and later: `--local-rank`), with a script that accepts neither.

    ## What is not reported

    - Scripts whose options are not all written there: other parsers, `parse_known_args`, a parser
      that is passed to functions of other files.
    - Options that an expansion, such as `$ARGS`, may hold.

    ## Fix safety

    None: only you know what the option was meant to do.

    ## References

    - [Python: argparse](https://docs.python.org/3/library/argparse.html)
    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST832"
    name = "unknown-script-option"
    severity = Severity.ERROR

    good = (
        Example(
            title="An abbreviation, and an option that may be passed",
            file="train.py",
            code="""\
import argparse
import subprocess

import torch.distributed as dist


def launch():
    subprocess.run(["torchrun", "--nproc_per_node", "2", "train.py", "--learning", "0.1"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning-rate", type=float)
    print(parser.parse_args().learning_rate)
    dist.init_process_group("gloo")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
""",
            effect="static",
            why_static="it shows when the script is launched",
        ),
    )

    bad = (
        Example(
            title="An option of torchrun after the script",
            file="train.py",
            code="""\
import argparse
import subprocess

import torch.distributed as dist


def launch():
    subprocess.run(["torchrun", "train.py", "--lr", "0.1", "--max_restarts", "3"])  # expect: DST832


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    print(parser.parse_args().lr)
    dist.init_process_group("gloo")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
""",
            effect="static",
            why_static="it shows when the script is launched",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            text = _text(page, launch)
            options = _options(page, launch, text) if text is not None else None
            if options is not None:
                yield from self._given(page, launch, options)
                yield from self._passed(page, launch, options)

    def _given(self, page: Page, launch: Launch, options: Options) -> Iterator[Finding]:
        unknown = [each for each in _options_in(launch) if not options.accept(each[1])]
        if not unknown:
            return
        word, name = unknown[0]
        others = (
            f" (nor {', '.join(f'`{each}`' for _, each in unknown[1:])})" if unknown[1:] else ""
        )
        yield self.finding(
            page,
            f"`{_script(launch)}` has no option `{name}`{others}",
            Severity.ERROR,
            (word.start, word.end),
            effect=f'the script fails with "unrecognized arguments: {name}"',
            help=_advice(launch, name, options),
        )

    def _passed(self, page: Page, launch: Launch, options: Options) -> Iterator[Finding]:
        """The rank that the launcher itself appends."""
        if launch.launcher not in ("launch", "deepspeed") or not launch.complete:
            return
        if any(map(options.accept, _LOCAL_RANK)) or any(map(launch.words.__contains__, _SILENT)):
            return
        script = launch.script
        if script is not None:
            yield self.finding(
                page,
                f"the launcher passes `--local_rank`, which `{_script(launch)}` does not accept",
                Severity.ERROR,
                (script.start, script.end),
                effect='the script fails with "unrecognized arguments: --local_rank=0"',
                help="Use `torchrun`, and read `LOCAL_RANK` from the environment"
                if launch.launcher == "launch"
                else "Accept `--local_rank`, or launch with `--no_local_rank`",
            )


def _text(page: Page, launch: Launch) -> str | None:
    """The script that is started: the file itself, where Python starts it."""
    if page.sheet.kind == "python" and launch.script and page.path.name == launch.script.text:
        return page.text
    return script_text(page, launch)


def _options(page: Page, launch: Launch, text: str) -> Options | None:
    """The options of a script, by the parser in it or in a file beside it."""
    imported = import_of_parser(text)
    if imported is None:
        return options_of(text)
    module, function = imported
    directory, slash, _ = ((launch.script and launch.script.text) or "").rpartition("/")
    there = page.text_of(f"{directory}{slash}{module.replace('.', '/')}.py")
    if there is None or not makes_parser(there, function):
        return None
    return options_of(there if "parse_args()" in there else f"{there}\n{function}().parse_args()")


def _script(launch: Launch) -> str:
    text = launch.script.text if launch.script is not None else None
    return (text or "").rpartition("/")[2]


def _options_in(launch: Launch) -> Iterator[tuple[Word, str]]:
    """The options that are written for the script, with their names."""
    for word in launch.arguments:
        name = word.raw.partition("=")[0]
        if name == "--":
            return
        if name.startswith("--") and not set("$`*?{<>|&;\"'(") & set(name):
            yield word, name


def _advice(launch: Launch, name: str, options: Options) -> str:
    meant = nearest(name, options.names, 2)
    if meant:
        return f"Use `{meant}`"
    if name.replace("-", "_") in {
        each.replace("-", "_") for each in launcher_options(launch.launcher)
    }:
        return f"Put it before the script: it is an option of {launch.launcher}"
    return "Remove it, or add it to the parser of the script"
