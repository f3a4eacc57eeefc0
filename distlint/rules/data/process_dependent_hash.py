"""DST215: the hash of a text, which is another one in each process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_TEXT = re.compile(
    r"tok|word|text|str|name|path|file|key|sent|char|label|url|line|prompt|query", re.IGNORECASE
)


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

    `hash(token) % size`, if the name of the argument suggests a string, in a file that imports
    `torch`.

    ## What is not reported

    - `PYTHONHASHSEED` appears in the file.
    - The hash is not taken modulo anything: it is compared, or used as a key within the process.

    ## Fix safety

    None: the numbers change once more, and so does data prepared with the old ones.

    ## References

    - [PYTHONHASHSEED](https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED)
    - [`object.__hash__`](https://docs.python.org/3/reference/datamodel.html#object.__hash__)
    """

    code = "DST215"
    name = "process-dependent-hash"
    severity = Severity.WARNING
    patterns = (r"\bhash\(.*\) *%",)

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
        if "hash" not in module.tokens or "PYTHONHASHSEED" in module.tokens:
            return
        if "torch" not in module.imported_roots or "hash" in module.definitions:
            return
        objects = objects_of(module, catalogue)
        for point in objects.points:
            for node in nodes_of(point.statement):
                if isinstance(node, ir.Binary) and node.op == "%" and _is_hash(node.left):
                    yield self.finding(
                        message="`hash()` of a string differs between processes",
                        severity=Severity.WARNING,
                        place=locators.of(module.key).place(point.statement.site),
                        effect="ranks number or split the same data differently",
                        help="Use `zlib.crc32` of the encoded string",
                    )


def _is_hash(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "abs" and node.args:
        node = node.args[0].value
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Name)
        and node.func.id == "hash"
        and len(node.args) == 1
        and any(_TEXT.search(token) for token in ir.tokens_of(node.args[0].value))
    )
