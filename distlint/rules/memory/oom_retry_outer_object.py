"""DST301: what a training retry uses survives the attempt that ran out of memory."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.memory._move_inside import moved_inside
from distlint.rules.memory._retry import Retried, inside, retried, trains
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import Origin
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_MADE = re.compile(
    r"^torch\.optim\.|\.DataLoader$|^torch\.nn\.(?!functional|init|utils)|^torch\.compile$"
    r"|Accelerator\.(prepare|prepare_model|prepare_optimizer|prepare_data_loader)$"
    r"|\.from_pretrained$|get_[a-z_]*schedule|\.get_scheduler$|^timm\.create_model$"
    r"|^torchvision\.models\."
)
_HARMLESS = re.compile(r"[Tt]okenizer|[Cc]onfig|[Pp]rocessor|[Ff]eatureExtractor|datasets")


class OomRetryOuterObject(SourceRule):
    """A retried training function uses a model, optimizer or loader that is created outside of it.

    ```python
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters())

    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):  # bad: all attempts share the model
        for batch in batches(batch_size):
            model(batch).mean().backward()
            optimizer.step()
    ```

    ## Use instead

    ```python
    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        model = Net()
        optimizer = torch.optim.AdamW(model.parameters())
        for batch in batches(batch_size):
            model(batch).mean().backward()
            optimizer.step()
        return model
    ```

    With Accelerate, call `accelerator.free_memory()` first in the function.

    ## Why is this bad?

    An attempt that runs out of memory at step 7 has already changed the weights six times and
    filled the moments of the optimizer. The next attempt continues from there instead of starting
    over, from a different state on each rank. What the first attempt put on the GPU is still held,
    so the smaller batch may not fit either. A loader that is created outside keeps the old batch
    size, whatever the argument is.

    ## What is reported

    A function under `find_executable_batch_size` that trains, and uses a model, optimizer,
    scheduler or loader that was created before: all attempts share these objects.

    ## What is not reported

    - The function only runs inference or probes: it has no backward pass and calls no training
      function.
    - Tokenizers, datasets, configurations and the accelerator, which an attempt does not change.
    - Objects that the caller passes in.

    ## Fix safety

    Unsafe: the statements that create the objects are moved into the function, in their order,
    after `free_memory()`, and a loader among them gets the batch size of the attempt. What is used
    after the call is returned, `model = train()`. Offered if the statements are in the same block
    as the function, the function is called once, and nothing else uses the objects. Check that an
    attempt does not use up what the objects are created from.

    ## References

    - [Accelerate: Utilities](https://huggingface.co/docs/accelerate/package_reference/utilities)
    """

    code = "DST301"
    name = "oom-retry-outer-object"
    severity = Severity.WARNING

    good = (
        Example(
            title="Everything is created inside",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
dataset = torch.randn(16, 2)


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    accelerator.free_memory()
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=batch_size)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        if batch_size > 7:
            raise RuntimeError("CUDA out of memory.")
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()


train()
""",
        ),
        Example(
            title="A probe that only runs inference",
            needs=("accelerate",),
            code="""\
import torch
from accelerate.utils import find_executable_batch_size

model = torch.nn.Linear(2, 1)


@find_executable_batch_size(starting_batch_size=512)
def probe(batch_size):
    with torch.no_grad():
        model(torch.ones(batch_size, 2))
    return batch_size


print("size =", probe())
""",
        ),
        Example(
            title="Passed in by the caller",
            needs=("accelerate",),
            code="""\
import torch
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size, model, optimizer):
    model(torch.ones(batch_size, 2)).mean().backward()
    optimizer.step()


model = torch.nn.Linear(2, 1)
train(model, torch.optim.SGD(model.parameters(), lr=0.1))
""",
        ),
    )

    bad = (
        Example(
            title="The second attempt starts with filled moments",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size


def main():
    accelerator = Accelerator(cpu=True)
    moments = []
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer = accelerator.prepare(model, optimizer)

    @find_executable_batch_size(starting_batch_size=8)
    def train(batch_size):  # expect: DST301
        accelerator.free_memory()
        moments.append(len(optimizer.state))
        for step in range(3):
            if batch_size > 7 and step == 2:
                raise RuntimeError("CUDA out of memory.")
            accelerator.backward(model(torch.ones(batch_size, 2)).mean())
            optimizer.step()

    train()
    assert moments == [0, 0], "trained on from the failed attempt"


main()
""",
        ),
        Example(
            title="A loader that keeps the old batch size",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader

loader = DataLoader(torch.randn(32, 2), batch_size=3)


@find_executable_batch_size(starting_batch_size=3)
def train(batch_size):  # expect: DST301
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        if len(batch) > 2:
            raise RuntimeError("CUDA out of memory.")
        model(batch).mean().backward()
        optimizer.step()


train()
""",
        ),
        Example(
            title="Objects that are used after the call",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate.utils import find_executable_batch_size


def main():
    batches = []
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    @find_executable_batch_size(starting_batch_size=4)
    def train(batch_size):  # expect: DST301
        for step in range(3):
            if step == 2 and batch_size > 3:
                raise RuntimeError("CUDA out of memory.")
            model(torch.ones(batch_size, 2)).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            batches.append(batch_size)
        return batch_size

    size = train()
    print("size =", size)
    torch.save({"weights": model.state_dict(), "moments": optimizer.state_dict()}, "last.pt")
    assert model.weight[0, 0].item() == -3.0, "more steps than the attempt that came through"


main()
""",
        ),
        Example(
            title="nonlocal objects",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate.utils import find_executable_batch_size


def main():
    steps = []
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)

    @find_executable_batch_size(starting_batch_size=4)
    def train(batch_size):  # expect: DST301
        nonlocal model
        steps.append(model.weight.abs().sum().item())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(batch_size, 2)).mean().backward()
        optimizer.step()
        if batch_size > 3:
            raise RuntimeError("CUDA out of memory.")

    train()
    assert steps[-1] == 0.0, "trained on from the failed attempt"


main()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for retry, objects in retried(module, catalogue):
            if not trains(retry.function, objects):
                continue
            outer = dict(_outer_objects(retry, objects))
            if not outer:
                continue
            locator = locators.of(module.key)
            names = " and ".join(f"`{name}`" for name in outer)
            yield self.finding(
                message=f"{names} "
                f"{'is' if len(outer) == 1 else 'are'} reused by every retry attempt",
                severity=Severity.WARNING,
                place=locator.place(retry.function.site),
                related=tuple(
                    Related(f"`{name}` is created here", locator.place(site.call.site))
                    for name, site in outer.items()
                ),
                effect="the next attempt continues from the state of the failed one, whose memory "
                "is still held",
                help="Create them inside the function, after `free_memory()`, and return them",
                fix=partial(
                    moved_inside, Draft(locator, module, catalogue), retry.function.site, outer
                ),
            )


def _outer_objects(retry: Retried, objects: Objects) -> Iterator[tuple[str, CallSite]]:
    """The variables of outer scopes that hold a model, optimizer or loader, and who made it."""
    seen: set[str] = set()
    for statement, around in inside(retry):
        for item in nodes_of(statement):
            if not isinstance(item, ir.Name) or item.id in seen:
                continue
            if item.id in retry.function.locals and item.id not in retry.function.outer:
                continue
            seen.add(item.id)
            if _made_inside(item.id, retry):
                continue
            site = _maker(item, Point(retry.scope, around), retry, objects)
            if site is not None:
                yield item.id, site


def _made_inside(name: str, retry: Retried) -> bool:
    """Does the function give the variable a value that is not made from it?"""
    return any(
        isinstance(statement, ir.Assign)
        and name not in ir.tokens_of(statement.value)
        and any(name in ir.tokens_of(target) for target in statement.targets)
        for statement, _ in inside(retry)
        if name in retry.function.outer
    )


def _maker(name: ir.Name, point: Point, retry: Retried, objects: Objects) -> CallSite | None:
    outer = retry.scope.outer
    origins = list(objects.origins(name, point))
    if name.id in retry.function.outer and outer is not None:
        origins += objects.origins(name, Point(outer, retry.point.around))
    for origin in origins:
        if origin.point.scope is not retry.scope and _is_used_up(origin, objects):
            assert isinstance(origin.node, ir.Call)
            return CallSite(origin.node, origin.point)
    return None


def _is_used_up(origin: Origin, objects: Objects) -> bool:
    """Is it an object that training changes, or that holds the batch size?"""
    if not isinstance(origin.node, ir.Call) or origin.attributes:
        return False
    site = CallSite(origin.node, origin.point)
    cls = objects.callee(site)
    if isinstance(cls, ir.Class):
        return any("Module" in ir.tokens_of(base) for base in cls.bases)
    called = objects.called(site)
    return _MADE.search(called) is not None and _HARMLESS.search(called) is None
