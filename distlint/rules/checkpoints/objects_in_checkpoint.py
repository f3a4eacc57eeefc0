"""DST417: a checkpoint holds objects that the default of `torch.load` rejects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.hooks import keeps_to_older
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.checkpoints._dict_loads import Loaded, is_allowed_near, loaded_by, loads_in
from distlint.rules.checkpoints._dict_saves import Held, Saved, saved_near
from distlint.rules.checkpoints._pickled_kinds import CLASS, NAMESPACE
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SINCE = "2.6"


class ObjectsInCheckpoint(SourceRule):
    """A checkpoint holds objects, such as `argparse.Namespace`, and `torch.load` rejects these.

    ```python
    torch.save({"model": model.state_dict(), "epoch": epoch, "args": args}, path)
    ...
    checkpoint = torch.load(path, map_location="cpu")  # bad: UnpicklingError
    model.load_state_dict(checkpoint["model"])
    ```

    ## Use instead

    ```python
    torch.save({"model": model.state_dict(), "epoch": epoch, "args": vars(args)}, path)
    ...
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    ```

    For files that are there already, pass `weights_only=False` if you trust them, or allow the
    class with `torch.serialization.add_safe_globals`.

    ## Why is this bad?

    Since PyTorch 2.6, `torch.load` accepts tensors, numbers, text and plain containers by default,
    and raises `UnpicklingError` for anything else. The run trains and saves; it fails when it is
    resumed.

    ## What is reported

    `torch.load` without `weights_only`, or with `weights_only=True`, of a dict that the project
    saves with

    - the `Namespace` of `argparse`, or a configuration of OmegaConf, hydra, yacs, EasyDict,
      ml_collections, addict, munch or mmengine;
    - an object of a class of the project, such as a dataclass or an enum, or the class itself;
    - an array or a scalar of numpy, such as `np.mean(losses)`;
    - a path, a time, a `defaultdict`, a `deque`, an optimizer or a scheduler itself.

    That it is this checkpoint follows from the path, or from at least two of its keys that are
    read. The save may be in another file, and in functions that hand the dict on.

    ## What is not reported

    - `vars(args)`, `dataclasses.asdict(config)`, `OmegaConf.to_container(config)`, numbers by
      `float(...)` or `.item()`, and values of which the class is not known.
    - Another checkpoint without objects has these keys as well.
    - The load is in a `try`, has a `pickle_module`, or is given other arguments by `**`.
    - A file that runs with it calls `add_safe_globals` or `safe_globals`, replaces `torch.load`, or
      sets `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD`.
    - The project asks for a torch before 2.6, unless `weights_only=True` is passed.
    - Pickled modules: see [DST409](pickled-module.md). Tests.

    ## Fix safety

    Unsafe: saves `vars(args)` in place of the `Namespace`, if the same file saves it and the
    project does not read it. Options of other types, such as paths, are still rejected, and so are
    files that were saved before.

    ## References

    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only)
    """

    code = "DST417"
    name = "objects-in-checkpoint"
    severity = Severity.WARNING
    words = ("torch.load(",)

    good = (
        Example(
            title="The options as a dict",
            ranks=1,
            code="""\
import argparse

import torch

args = argparse.Namespace(lr=0.1)
model = torch.nn.Linear(2, 2)
torch.save({"model": model.state_dict(), "epoch": 3, "args": vars(args)}, "last.pt")
checkpoint = torch.load("last.pt")
model.load_state_dict(checkpoint["model"])
print(checkpoint["epoch"])
""",
        ),
        Example(
            title="A file that is trusted",
            ranks=1,
            code="""\
import argparse

import torch

args = argparse.Namespace(lr=0.1)
model = torch.nn.Linear(2, 2)
torch.save({"model": model.state_dict(), "epoch": 3, "args": args}, "last.pt")
checkpoint = torch.load("last.pt", weights_only=False)
model.load_state_dict(checkpoint["model"])
print(checkpoint["epoch"])
""",
        ),
    )

    bad = (
        Example(
            title="The options of the run",
            effect="fail",
            ranks=1,
            code="""\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args([])
model = torch.nn.Linear(2, 2)
torch.save({"model": model.state_dict(), "epoch": 3, "args": args}, "last.pt")
checkpoint = torch.load("last.pt")  # expect: DST417
model.load_state_dict(checkpoint["model"])
print(checkpoint["epoch"])
""",
        ),
        Example(
            title="A mean of numpy",
            effect="fail",
            ranks=1,
            needs=("numpy",),
            code="""\
import numpy as np
import torch


def save(model, losses, path):
    state = {"model": model.state_dict(), "loss": np.mean(losses)}
    torch.save(state, path)


def resume(model, path):
    state = torch.load(path, map_location="cpu")  # expect: DST417
    model.load_state_dict(state["model"])
    return state["loss"]


model = torch.nn.Linear(2, 2)
save(model, [0.5, 0.25], "last.pt")
print(resume(model, "last.pt"))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "load" not in module.tokens or document.is_test:
            return
        objects = objects_across(module, catalogue)
        sites = loads_in(objects)
        saves = saved_near(module) if sites else []
        if not any(each.held for each in saves) or is_allowed_near(module):
            return
        is_older = keeps_to_older(module, "torch", _SINCE)
        for load in loaded_by(objects, sites, saves):
            of = load.of(saves) if load.is_strict or not is_older else None
            if of is not None:
                yield self._finding(objects, load, of, saves, locators)

    def _finding(
        self,
        objects: Objects,
        load: Loaded,
        saved: Saved,
        saves: list[Saved],
        locators: Locators,
    ) -> Finding:
        held = saved.held[0]
        locator = locators.of(objects.module.key)
        save = related("it is saved here", saved.site, locators)
        draft = Draft(locator, objects.module, objects.catalogue)
        return self.finding(
            message=f"`torch.load` rejects the checkpoint: "
            f"`{held.key}` is {_with_article(held.kind)}",
            severity=Severity.WARNING,
            place=locator.place(load.site.call.site),
            related=(save,),
            effect="UnpicklingError: the run cannot be resumed",
            help="Save `vars(args)`, or pass `weights_only=False` if you trust the file"
            if held.kind == NAMESPACE
            else "Save plain values, or pass `weights_only=False` if you trust the file",
            fix=partial(_fix, objects, load, saves, draft),
        )


def _with_article(kind: str) -> str:
    if kind == "numpy":
        return "an array or scalar of numpy"
    if kind.startswith(CLASS):
        return f"the class `{kind.removeprefix(CLASS)}`"
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} `{kind}`"


def _fix(objects: Objects, load: Loaded, saves: list[Saved], draft: Draft) -> Fix:
    values: dict[int, Held] = {}
    for saved in load.fitting(saves):
        for held in saved.held:
            if held.kind != NAMESPACE or held.point.scope.module is not objects.module:
                raise CannotFix("other objects, or those of another file, stay in the checkpoint")
            if held.key in load.keys:
                raise CannotFix("what was saved there is read, maybe an attribute of it")
            values[id(held.value)] = held
    for held in values.values():
        value = _written(held, draft)
        draft.replace(value, f"vars({draft.text(value)})")
    return draft.fix("unsafe", "Save the options as a dict")


def _written(held: Held, draft: Draft) -> cst.BaseExpression:
    """Where the value of a key stands in the statement that puts it there."""
    found: list[cst.BaseExpression] = []
    for node in names.inside(draft.locator.node(held.point.statement.site)):
        match node:
            case cst.DictElement(key=cst.SimpleString() as key, value=value):
                found += [value] if key.evaluated_value == held.key else []
            case cst.Arg(keyword=cst.Name(value=name), value=value):
                found += [value] if name == held.key else []
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript())], value=value):
                found.append(value)
    if len(found) != 1 or not isinstance(found[0], (cst.Name, cst.Attribute)):
        raise CannotFix("it is not certain where the options stand")
    return found[0]
