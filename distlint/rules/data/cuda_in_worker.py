"""DST210: CUDA in the worker processes of a loader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import Made, loaders
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_IN_WORKERS = ("__getitem__", "__iter__", "__getitems__")
_DEPTH = 4


class CudaInWorker(SourceRule):
    """A worker process of a `DataLoader` uses CUDA.

    ```python
    class Images(Dataset):
        def __getitem__(self, index):
            return self.images[index].to("cuda")

    loader = DataLoader(Images(), batch_size=32, num_workers=4)
    ```

    ## Use instead

    ```python
    class Images(Dataset):
        def __getitem__(self, index):
            return self.images[index]

    loader = DataLoader(Images(), batch_size=32, num_workers=4, pin_memory=True)
    for batch in loader:
        batch = batch.to("cuda", non_blocking=True)
    ```

    ## Why is this bad?

    Workers are forked from a process that already uses CUDA, and CUDA does not survive a fork:
    "Cannot re-initialize CUDA in forked subprocess". Where it works, each worker creates its own
    CUDA context of some hundred megabytes, usually on the first GPU.

    ## What is reported

    `.cuda()`, `.to("cuda")` or `device="cuda"` in `__getitem__` or `__iter__` of a dataset of the
    file, or in the `collate_fn` or `worker_init_fn` of its loader, if the loader has workers.

    ## What is not reported

    - `num_workers` is 0 or not passed: the code then runs in the main process.
    - The loader sets `multiprocessing_context`, for example to `"spawn"`.
    - The device is unknown.

    ## Fix safety

    None: the batch has to be moved wherever it is used, which may be in another file.

    ## References

    - [CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
    - [torch.utils.data](https://docs.pytorch.org/docs/stable/data.html)
    """

    code = "DST210"
    name = "cuda-in-worker"
    severity = Severity.WARNING

    good = (
        Example(
            title="The batch is moved in the training loop",
            code="""\
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(float(index))


device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(1, device=device, requires_grad=True)
for batch in DataLoader(Numbers(), batch_size=4, num_workers=1):
    (weight * batch.to(device, non_blocking=True)).sum().backward()
""",
        ),
        Example(
            title="No workers",
            effect="static",
            why_static="it needs a GPU",
            code="""\
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(float(index)).cuda()


weight = torch.ones(1, device="cuda", requires_grad=True)
for batch in DataLoader(Numbers(), batch_size=4):
    (weight * batch).sum().backward()
""",
        ),
    )

    bad = (
        Example(
            title="In __getitem__",
            effect="fail",
            code="""\
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(float(index)).cuda()  # expect: DST210


weight = torch.ones(1, requires_grad=True)
for batch in DataLoader(Numbers(), batch_size=4, num_workers=1):
    (weight * batch).sum().backward()
""",
        ),
        Example(
            title="In collate_fn",
            effect="fail",
            code="""\
import torch
from torch.utils.data import DataLoader

DEVICE = torch.device("cuda")


def collate(items):
    return torch.tensor(items, device=DEVICE)  # expect: DST210


weight = torch.ones(1, requires_grad=True)
for batch in DataLoader(range(8), batch_size=4, num_workers=1, collate_fn=collate):
    (weight * batch).sum().backward()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words or not any("cuda" in word for word in module.tokens):
            return
        objects = objects_across(module, catalogue)
        told: set[ir.Call] = set()
        for loader in loaders(objects):
            if loader.constant("num_workers", 0) in (0, None):
                continue
            if not loader.option("multiprocessing_context").absent:
                continue
            for function in _run_by_workers(objects, loader):
                for site in _on_cuda(objects, function):
                    if site.call not in told:
                        told.add(site.call)
                        yield self._finding(site, loader, module, locators)

    def _finding(self, site: CallSite, loader: Made, module: Module, locators: Locators) -> Finding:
        locator = locators.of(module.key)
        made = locator.place(loader.call.site)
        return self.finding(
            message=f"CUDA is used in a worker of the loader in line {made.span.row}",
            severity=Severity.WARNING,
            place=locator.place(site.call.site),
            related=(Related("loader with workers", made),),
            effect="CUDA cannot be re-initialized in a forked subprocess",
            help="Return CPU tensors, and move the batch to the GPU in the training loop",
        )


def _run_by_workers(objects: Objects, loader: Made) -> Iterator[ir.Function]:
    for origin in loader.origins("dataset"):
        cls = objects.callee(origin.site) if origin.site is not None else None
        if isinstance(cls, ir.Class):
            yield from (cls.methods[name] for name in _IN_WORKERS if name in cls.methods)
    for name in ("collate_fn", "worker_init_fn"):
        for origin in loader.origins(name):
            if isinstance(origin.node, ir.Function) and not origin.attributes:
                yield origin.node
            elif origin.site is not None:
                made = objects.callee(origin.site)
                if isinstance(made, ir.Class) and "__call__" in made.methods:
                    yield made.methods["__call__"]


def _on_cuda(objects: Objects, function: ir.Function) -> Iterator[CallSite]:
    """The calls in a function that put something on a GPU."""
    if not any("cuda" in token or "device" in token for token in function.tokens):
        return
    scope = objects.scope_of(function)
    for site in objects.calls(objects.called_names):
        if site.point.scope is not scope:
            continue
        name = site.name
        if name == "cuda" and isinstance(site.call.func, ir.Attribute):
            yield site
            continue
        given = objects.argument(site, "device", 0 if name == "to" else None).value
        if given is not None and any(
            _is_cuda(objects, o) for o in objects.origins(given, site.point)
        ):
            yield site


def _is_cuda(objects: Objects, origin: Origin, depth: int = _DEPTH) -> bool:
    """Is it surely a GPU: ``"cuda"``, or a device made from that?"""
    constant = origin.constant
    if isinstance(constant, str):
        return constant.startswith("cuda")
    site = origin.site
    if site is None or not depth or objects.called(site) != "torch.device" or not site.call.args:
        return False
    inner = objects.origins(site.call.args[0].value, site.point)
    return bool(inner) and all(_is_cuda(objects, each, depth - 1) for each in inner)
