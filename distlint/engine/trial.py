"""Hold rules against their own examples: good ones silent, bad ones reported, fixes that repair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from distlint.engine.active_rules import passes_prefilter
from distlint.engine.check import Session
from distlint.engine.errors import ConfigError
from distlint.engine.fix import Repairman
from distlint.engine.selection import Selection
from distlint.engine.settings import Settings
from distlint.rules.base import Example, Rule, SettingsRule, SourceRule
from distlint.rules.registry import RegistryError, own_rules
from distlint.rules.table import INCOMPLETE_ANALYSIS
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding

_EXPECT = re.compile(r"#\s*expect:\s*([A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)")

_MARK = re.compile(r"[ \t]*# expect: .*")
_FIXED = ("safe", "unsafe")
_SAID = {"safe": "Safe", "unsafe": "Unsafe", "displayonly": "Shown only"}

Mark = tuple[int, str]
"""A row, and the code of a rule."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of an example: nothing speaks against it where ``problems`` is empty."""

    example: Example
    bad: bool
    problems: tuple[str, ...]
    reported: tuple[int, ...] = ()
    """The rows on which the rule speaks."""
    offered: frozenset[str] = frozenset()
    """The kinds of fixes that the rule offers: safe, unsafe or displayonly."""
    repaired: str | None = None
    """The script after its fixes, if they leave nothing of the rule's."""


def marks(source: str) -> list[Mark]:
    """What the ``# expect: CODE`` comments of a script ask for, in order."""
    return [
        (row, code.strip())
        for row, line in enumerate(source.splitlines(), start=1)
        for match in _EXPECT.finditer(line)
        for code in match[1].split(",")
    ]


def unmarked(source: str, file: str) -> str:
    """An example as it is checked: but in Python, a comment on a line can keep a fix away."""
    return source if file.endswith(".py") else _MARK.sub("", source)


def with_rules_of(file: Path, settings: Settings) -> Settings:
    """The settings with the rules of one more file of the user's own.

    Raises:
        ConfigError: if the file cannot be run, or its rules are not as they have to be.
    """
    others = settings.rules if settings.runs_rules else ()
    packages = settings.rule_packages if settings.runs_rules else ()
    files = others if file in others else (*others, file)
    try:
        own = own_rules(files, packages)
    except RegistryError as error:
        raise ConfigError(str(error)) from None
    known = {**settings.known, **{code: rule.name for code, rule in own.items()}}
    return replace(settings, rules=files, rule_packages=packages, known=known, runs_rules=True)


def trials(rule: type[Rule], session: Session, settings: Settings) -> Iterator[Trial]:
    """Each example of a rule, the good ones first."""
    for example in rule.good:
        yield _Trying(rule, example, session, settings).good()
    for example in rule.bad:
        yield _Trying(rule, example, session, settings).bad()


def untruths(rule: type[Rule], tried: Iterable[Trial]) -> list[str]:
    """Where the docstring says something else about fixes than the bad examples show."""
    section = rule.documentation().partition("\n## Fix safety\n")[2].partition("\n## ")[0].strip()
    said = {word for word in _SAID.values() if f"{word}:" in section}
    wanted = {_SAID[each] for trial in tried for each in trial.offered}
    if not section or said == wanted:
        return []
    show = " and ".join(sorted(wanted)) or "None"
    return [
        "according to the fixes of the bad examples, `## Fix safety` in the docstring should say: "
        f"{show}"
    ]


class _Trying:
    """One example, as the engine sees it when everything is switched on."""

    def __init__(
        self, rule: type[Rule], example: Example, session: Session, settings: Settings
    ) -> None:
        codes = frozenset(settings.known)
        self.rule = rule
        self.example = example
        self.session = session
        self.settings = replace(
            settings,
            selection=Selection(codes, codes),
            preview=True,
            per_file_ignores=(),
            severities={},
            baseline=None,
        )
        self.path = settings.root / example.file
        self.text = unmarked(example.code, example.file)
        self.failures: tuple[str, ...] = ()
        self.findings = self._found()
        self.own = [finding for finding in self.findings if finding.code == rule.code]

    def good(self) -> Trial:
        problems = [*self.failures]
        if marks(self.example.code):
            problems.append("a good example must not have an `# expect:` comment")
        heard = [f for f in self.findings if f.code == self.rule.code or _about_hangs(f.code)]
        problems += [f"line {f.place.span.row}: unexpected {f.code}: {f.message}" for f in heard]
        return Trial(self.example, False, tuple(problems))

    def bad(self) -> Trial:
        code, wanted = self.rule.code, marks(self.example.code)
        family = [f for f in self.findings if _family(f.code) == _family(code)]
        found = sorted((f.place.span.row, f.code) for f in family)
        problems = [*self.failures]
        problems += [
            f"line {row}: `# expect:` names another rule, {other}"
            for row, other in wanted
            if other != code
        ]
        missed = _less(wanted, found)
        problems += [f"line {row}: {each} expected, but not reported" for row, each in missed]
        problems += self._prefiltered() if missed else []
        problems += [f"line {row}: unexpected {each}" for row, each in _less(found, wanted)]
        repaired, left = self._repaired()
        return Trial(
            self.example,
            True,
            (*problems, *left),
            reported=tuple(f.place.span.row for f in self.own),
            offered=frozenset(f.fix.applicability for f in self.own if f.fix is not None),
            repaired=repaired,
        )

    def _prefiltered(self) -> list[str]:
        """Why the rule was not asked about the script, if it was not."""
        rule = self.rule
        if issubclass(rule, SettingsRule) or rule.code.startswith("DST0"):
            return []
        words, patterns = (rule.words, rule.patterns) if issubclass(rule, SourceRule) else ((), ())
        declared = any(word in self.text for word in words)
        declared |= any(re.search(pattern, self.text) for pattern in patterns)
        if rule.code in self.settings.own_rules():
            none = "the prefilter skips the script: it contains none of the `words` of the rule"
            return [none] if words and not declared else []
        try:
            document = Document.from_bytes(self.text.encode(), self.path)
        except DocumentError:
            return []
        if passes_prefilter(document, self.settings):
            return []
        if declared:
            help = "update the generated `words` with python -m scripts.generate_words"
        else:
            help = (
                "the script contains neither a word of a distributed framework nor one of the "
                "`words` of a rule; declare `words`"
            )
        return [f"the prefilter skips the script: {help}"]

    def _found(self) -> list[Finding]:
        if self.path.suffix == ".py" and not self.rule.code.startswith("DST0"):
            try:
                compile(self.text, "example", "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                self.failures = ("the example is not valid Python",)
                return []
        self.session.project(self.settings).forget(self.path)
        result = self.session.check_bytes(self.text.encode(), self.path, self.settings)
        self.failures = tuple(n.message for n in result.notices if n.kind == "failed")
        items = (*result.reported, *(item for item, _ in result.unused))
        if self.rule.code == INCOMPLETE_ANALYSIS:
            items = (*items, *result.noted)
        return sorted((item.finding for item in items), key=lambda finding: finding.sort_key)

    def _repaired(self) -> tuple[str | None, list[str]]:
        """The script after its fixes, and those fixes that did not do what they promise."""
        promised = [f for f in self.own if f.fix and f.fix.applicability in _FIXED]
        if not promised:
            return None, []
        settings = self.settings
        if not self.rule.code.startswith("DST0"):  # what these say rests on the other rules
            alone = frozenset({self.rule.code})
            preview = self.rule.preview or any(finding.preview for finding in self.own)
            settings = replace(settings, selection=Selection(alone, alone), preview=preview)
        repairman = Repairman(self.session, settings, frozenset(_FIXED))
        try:
            document = Document.from_bytes(self.text.encode(), self.path)
        except DocumentError as error:
            return None, [error.message]
        after = repairman.repaired(document, self.own)
        again = _Trying(
            self.rule, replace(self.example, code=after.text), self.session, self.settings
        )
        left = len(again.own) - (len(self.own) - len(promised))
        problems = [notice.message for notice in repairman.notices]
        if left > 0 and not problems:
            problems = [f"{left} of its findings remain after the fixes"]
        return (after.text if not again.own and not problems else None), problems


def _less(some: list[Mark], others: list[Mark]) -> list[Mark]:
    left = list(others)
    found = []
    for mark in some:
        if mark in left:
            left.remove(mark)
        else:
            found.append(mark)
    return found


def _family(code: str) -> str:
    """Of ours, what else a bad example must not show; a rule of the user's own stands alone."""
    return code[:4] if code.startswith("DST") else code


def _about_hangs(code: str) -> bool:
    return code.startswith("DST1") or code == "DST407"
