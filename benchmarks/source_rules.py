"""What the rules about one file's source report in a tree of repositories, without comparing ranks.

    python -m benchmarks.source_rules CORPUS --select DST5 DST604 [--containing REGEX] [--show N]

Prints each finding with its line of source, and how many each rule has. Files are passed over that
the check itself would not read, and those that do not match ``--containing``; imported files of
the same repository are looked up as in a check. ``--limit`` stops a rule after so many findings in
one repository, for reading a sample.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from distlint.analyzer.ir.errors import ParseError
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.project import Project
from distlint.rules.base import SourceRule
from distlint.rules.find import source_rules
from distlint.rules.prefilter import worth_analysing
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding


def files_in(tree: Path, containing: re.Pattern[bytes]) -> Iterator[Document]:
    """Read the files of a repository that a check would analyse and that have the words."""
    for path in sorted(tree.rglob("*.py")):
        try:
            data = path.read_bytes()
            if worth_analysing(data) and containing.search(data):
                yield Document.from_bytes(data, path)
        except (OSError, DocumentError):
            continue


def findings(document: Document, project: Project, rules: list[SourceRule]) -> list[Finding]:
    """Ask the rules about one file."""
    module = project.add(document)
    catalogue = project.catalogue_of(module)
    locators = Locators(project.read)
    locators.add(document)
    found = [each for rule in rules for each in rule.check(document, module, catalogue, locators)]
    return sorted(found, key=lambda finding: finding.sort_key)


def main() -> int:
    """Print the findings and their number."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path, help="the folder with the trees, one each repository")
    parser.add_argument("--select", nargs="+", required=True, help="codes or their beginnings")
    parser.add_argument("--containing", default="", help="only files in which this regex matches")
    parser.add_argument("--trees", default="*", help="only trees of such a name")
    parser.add_argument("--limit", type=int, default=10**6, help="findings a rule and repository")
    options = parser.parse_args()
    rules = [rule for rule in source_rules() if rule.code.startswith(tuple(options.select))]
    containing = re.compile(options.containing.encode())
    total: Counter[str] = Counter()
    checked = 0
    for tree in sorted(options.corpus.glob(options.trees)):
        here: Counter[str] = Counter()
        project = Project(tree)
        for document in files_in(tree, containing):
            checked += 1
            try:
                found = findings(document, project, rules)
            except ParseError:
                continue
            lines = document.text.splitlines()
            for finding in found:
                here[finding.code] += 1
                total[finding.code] += 1
                if here[finding.code] <= options.limit:
                    row = finding.place.span.row
                    mark = " (preview)" if finding.preview else ""
                    where = document.path.relative_to(options.corpus)
                    print(f"{finding.code} {finding.severity.value}{mark} {where}:{row}")
                    print(f"    {lines[row - 1].strip()[:150]}", flush=True)
    print(f"{checked} files; " + ", ".join(f"{code} {n}" for code, n in sorted(total.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
