"""DST215: the hash of a text, which is another one in each process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._set_orders import ordered_by_sets
from distlint.rules.data._text_hashes import takes_hash
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


_PATTERNS = (
    r"\bhash\(.*\) *[%&]",
    r"= *(?:abs\()?hash\(",
    r"\bkey *= *hash\b",
    r"\bset\(",
    r"\bfor .* in \{",
    r"(?:[sS]eed|Random|RandomState|default_rng|divmod)\(.*\bhash\(",
)
_MAKES_SET = re.compile(r"\bset\(|\{[^{}:]*\bfor\b")
_SALT = "PYTHONHASHSEED"
_TRAINS = frozenset({"torch", "accelerate", "lightning", "pytorch_lightning", "deepspeed"})
"""Packages that scripts of several processes import."""


class ProcessDependentHash(SourceRule):
    """Data is selected or numbered by `hash()` of a string.

    ```python
    train = [path for path in paths if hash(path) % 10 != 0]
    val = [path for path in paths if hash(path) % 10 == 0]
    ```

    ## Use instead

    ```python
    train = [path for path in paths if zlib.crc32(path.encode()) % 10 != 0]
    val = [path for path in paths if zlib.crc32(path.encode()) % 10 == 0]
    ```

    Or use `hashlib`.

    ## Why is this bad?

    Python salts the hash of strings with a random value in each process, unless `PYTHONHASHSEED` is
    set. Each rank, and each `DataLoader` worker that is spawned and not forked, gets a different
    number for the same word. A split by hash puts a sample into training on one rank and into
    validation on another. The numbers also change in the next run.

    ## What is reported

    In a file that imports `torch`, or that such a file imports: `hash(token) % size`, also with
    `&`, `divmod`, `abs` or through a variable; `key=hash` where strings are sorted; and
    `seed(hash(name))`. The argument is a string by its name, or by where it comes from: the lines
    of a file, the names of `glob`, `str(...)`, an f-string, a tuple that holds a string.

    The samples of a dataset class, which `__getitem__` takes by index, in the order of a set of
    strings: a loop over the set fills their list, or `list(names)` is it.

    ## What is not reported

    - `PYTHONHASHSEED` appears in the file, or another file starts the script again with it.
    - The hash is only compared, or used as a key within the process.
    - The method that goes through the set sorts something.
    - The argument is a number, a tuple of numbers, or unknown.

    ## Fix safety

    None: the numbers change once more, and so does data prepared with the old ones.

    ## References

    - [PYTHONHASHSEED](https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED)
    - [`object.__hash__`](https://docs.python.org/3/reference/datamodel.html#object.__hash__)
    """

    code = "DST215"
    name = "process-dependent-hash"
    severity = Severity.WARNING
    patterns = _PATTERNS
    shared = _PATTERNS

    good = (
        Example(
            title="A hash that is the same in all processes",
            code="""\
import zlib

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
ids = torch.tensor([zlib.crc32(token.encode()) % 1000 for token in "a b c".split()])
others = [torch.zeros_like(ids) for _ in range(dist.get_world_size())]
dist.all_gather(others, ids)
assert all(torch.equal(ids, other) for other in others)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Words numbered by hash",
            effect="static",
            why_static="processes that are forked from one share its salt",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, lines, size):
        self.lines, self.size = lines, size

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        tokens = self.lines[index].split()
        return torch.tensor([hash(token) % self.size for token in tokens])  # expect: DST215


dist.init_process_group("gloo")
print(Words(["a b c"], 1000)[0])
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        hashes = "hash" in module.tokens and "hash" not in module.definitions
        taken = any("__getitem__" in cls.methods for cls in module.classes.values())
        orders = taken and _MAKES_SET.search(document.text) is not None
        if not (hashes or orders) or _SALT in module.tokens or not _is_of_training(module):
            return
        if any(map(_restarts, _files_around(module))):
            return
        objects = objects_across(module, catalogue)
        for point, item in ordered_by_sets(objects) if orders else ():
            locator = locators.of(module.key)
            yield self.finding(
                message="samples are in the order of a set of strings",
                severity=Severity.WARNING,
                place=locator.place(point.statement.site),
                related=(Related("taken by index here", locator.place(item.statement.site)),),
                effect="an index is another sample on each rank: some are seen twice, others never",
                help="Go through `sorted(...)` of the set",
            )
        for point in objects.points if hashes else ():
            if any(takes_hash(objects, node, point) for node in nodes_of(point.statement)):
                yield self.finding(
                    message="`hash()` of a string differs between processes",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(point.statement.site),
                    effect="ranks number or split the same data differently",
                    help="Use `zlib.crc32` of the encoded string",
                )


def _files_around(module: Module) -> Iterator[Module]:
    """A file, those that it imports, and those that import it, over one file between."""
    yield from module.import_closure()
    for near in module.all_importers():
        yield from near.import_closure()
        yield from near.all_importers()


def _is_of_training(module: Module) -> bool:
    """Does a file, or one that imports it, import what several processes train with?"""
    return any(not _TRAINS.isdisjoint(each.imported_roots) for each in _files_around(module))


def _restarts(module: Module) -> bool:
    """Does a file start the script again, or others, with one salt for all?"""
    return _SALT in module.tokens and any(
        token.startswith(("exec", "spawn", "Popen")) for token in module.tokens
    )
