"""DST402: a prefix that is taken off by hand, and more than it, or for the wrong model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_of
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import wrapper_of
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Related, Severity
from distlint.source.requirements import runs_on_older_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_PREFIXES = frozenset({"module.", "_orig_mod."})
_CURE = "torch.nn.modules.utils.consume_prefix_in_state_dict_if_present"


class PrefixStrip(SourceRule):
    """A wrapper's prefix is removed from checkpoint keys in a way that can break loading.

    ```python
    state = torch.load("ddp.pt", map_location="cpu")
    state = {key.replace("module.", ""): value for key, value in state.items()}
    model.load_state_dict(state)
    ```

    ## Use instead

    ```python
    state = torch.load("ddp.pt", map_location="cpu")
    consume_prefix_in_state_dict_if_present(state, "module.")  # of torch.nn.modules.utils
    model.load_state_dict(state)
    ```

    Or use `key.removeprefix("module.")`, or `distlint.runtime.strip_prefixes(state)`, which also
    handles `_orig_mod.`. Load before the model is wrapped, or into `model.module`.

    ## Why is this bad?

    Keys may contain the word further inside: `sub_module.weight` becomes `sub_weight`, and that
    weight is missing or, with `strict=False`, stays random. A model that is already wrapped finds
    none of the keys it expects, since they no longer have the prefix.

    ## What is reported

    - In preview: `key.replace("module.", "")` on the keys of a state dict, which removes the word
      everywhere and not only at the start. (One of 8 such calls in 58 repositories met a key that
      contains the word twice.)
    - A state dict whose prefix has been removed is loaded into a wrapped model, which expects the
      prefix. A warning.

    ## What is not reported

    - Only the start is removed: `removeprefix`, or `key[7:]` after `startswith`.
    - `key.replace("_orig_mod.", "")`: blocks that are compiled one by one have it further inside,
      where it has to be removed as well.
    - The string is not a key of a state dict.
    - For wrapped models: the keys of the model, or a parameter of the function, decide whether the
      prefix is removed.

    ## Fix safety

    Unsafe: `replace("module.", "")` becomes `removeprefix("module.")`. Keys with the prefix further
    inside keep it, such as those of a module that is wrapped inside another one. Not offered in a
    project that supports Python 3.8, which lacks `removeprefix`.

    ## References

    - [str.removeprefix](https://docs.python.org/3/library/stdtypes.html#str.removeprefix)
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "DST402"
    name = "prefix-strip"
    severity = Severity.INFO
    exceptions = (Severity.WARNING,)

    good = (
        Example(
            title="With removeprefix",
            code="""\
import torch

net = torch.nn.Linear(2, 2)
state = {f"module.{name}": value for name, value in net.state_dict().items()}
state = {key.removeprefix("module."): value for key, value in state.items()}
net.load_state_dict(state)
""",
            ranks=1,
        ),
        Example(
            title="With the function of torch",
            code="""\
import torch
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present

net = torch.nn.Linear(2, 2)
state = {f"module.{name}": value for name, value in net.state_dict().items()}
consume_prefix_in_state_dict_if_present(state, "module.")
net.load_state_dict(state)
""",
            ranks=1,
        ),
        Example(
            title="A string that is not a key",
            code="""\
title = "module.training".replace("module.", "")
print("title =", title)
""",
            ranks=1,
        ),
    )

    bad = (
        Example(
            title="The word is also inside a key",
            effect="fail",
            code="""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sub_module = torch.nn.Linear(2, 2)


net = Net()
state = {f"module.{name}": value for name, value in net.state_dict().items()}
state = {key.replace("module.", ""): value for key, value in state.items()}  # expect: DST402
net.load_state_dict(state)
""",
            ranks=1,
        ),
        Example(
            title="In a loop",
            effect="fail",
            code="""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head_module = torch.nn.Linear(2, 2)


net = Net()
clean = {}
for key, value in net.state_dict().items():
    clean[key.replace("module.", "")] = value  # expect: DST402
net.load_state_dict(clean)
""",
            ranks=1,
        ),
        Example(
            title="Loaded into a model that is already wrapped",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
state = {key.removeprefix("module."): value for key, value in model.state_dict().items()}
model.load_state_dict(state)  # expect: DST402
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _PREFIXES.isdisjoint(module.tokens):
            return
        objects = objects_of(module, catalogue)
        stripped = list(_stripped(objects))
        for site in stripped:
            if _is_replace(site.call):
                prefix = site.call.args[0].value
                assert isinstance(prefix, ir.Literal)
                locator = locators.of(module.key)
                finding = self.finding(
                    message=f"`replace` removes `{prefix.value}` anywhere in the key",
                    severity=Severity.INFO,
                    place=locator.place(site.call.site),
                    effect="a key with the word further inside no longer matches the model",
                    help=f"Use `{_CURE}` or `str.removeprefix`",
                    fix=partial(_fix, site, Draft(locator, module, catalogue)),
                )
                yield replace(finding, preview=True)
        yield from self._into_wrapper(objects, stripped, module, locators)

    def _into_wrapper(
        self, objects: Objects, stripped: list[CallSite], module: Module, locators: Locators
    ) -> Iterator[Finding]:
        for load in objects.calls({"load_state_dict"}):
            func, args = load.call.func, load.call.args
            if not (isinstance(func, ir.Attribute) and args and isinstance(args[0].value, ir.Name)):
                continue
            made = {
                id(origin.node)
                for origin in objects.origins(args[0].value, load.point)
                if isinstance(origin.node, ir.Comprehension)
            }
            sources = [site for site in stripped if made & set(_enclosing(site))]
            if any(map(_asks_the_model, sources)) or any(map(_is_for_the_caller, sources)):
                continue
            wrapper = wrapper_of(objects, func.value, load.point) if sources else None
            if wrapper is not None and wrapper.prefix == _prefix(sources[0].call):
                locator = locators.of(module.key)
                yield self.finding(
                    message=f"the wrapped model expects keys with the `{wrapper.prefix}` prefix",
                    severity=Severity.WARNING,
                    place=locator.place(load.call.site),
                    related=(Related("prefix removed here", locator.place(sources[0].call.site)),),
                    effect=f"no key matches `{wrapper.what}`: loading fails, or with "
                    "`strict=False` silently loads nothing",
                    help="Load before wrapping the model, or into "
                    f"`model.{wrapper.prefix.rstrip('.')}`",
                )


def _fix(site: CallSite, draft: Draft) -> Fix:
    if runs_on_older_python(draft.document.path, "3.9"):
        raise CannotFix("Python 3.8 has no removeprefix")
    call = draft.node(site.call.site, cst.Call)
    names.rename(draft, call.func, "removeprefix")
    calls.remove_argument(draft, call, call.args[1])
    return draft.fix("unsafe", "Remove the prefix only at the start of the key")


def _stripped(objects: Objects) -> Iterator[CallSite]:
    """The calls that take a wrapper's prefix off the names of a state dict."""
    for site in objects.calls({"replace", "removeprefix"}):
        if _prefix(site.call) in _PREFIXES and isinstance(site.call.func, ir.Attribute):
            if _is_replace(site.call) and not _replaces_by_nothing(site.call):
                continue
            if _is_replace(site.call) and _prefix(site.call) != "module.":
                continue  # blocks compiled one by one have it inside as well
            if any(True for _ in _enclosing(site)) or _stores_item(site):
                yield site


def _prefix(call: ir.Call) -> object:
    first = call.args[0].value if call.args else None
    return first.value if isinstance(first, ir.Literal) else None


def _is_replace(call: ir.Call) -> bool:
    """Does it replace, wherever the word stands?"""
    return isinstance(call.func, ir.Attribute) and call.func.attr == "replace"


def _replaces_by_nothing(call: ir.Call) -> bool:
    second = call.args[1].value if len(call.args) > 1 else None
    return isinstance(second, ir.Literal) and second.value == ""


def _enclosing(site: CallSite) -> Iterator[int]:
    """The dict comprehensions of a statement in whose key the call stands."""
    for item in nodes_of(site.point.statement):
        if isinstance(item, ir.Comprehension) and item.kind == "dict":
            if any(inner is site.call for inner in expressions_in(item.element)):
                yield id(item)


def _asks_the_model(site: CallSite) -> bool:
    """Does a test around say which names the model itself has?"""
    return any("state_dict" in ir.tokens_of(test) for test in tests_around(site.point))


def _is_for_the_caller(site: CallSite) -> bool:
    """Does a parameter say whether the prefix goes? Who gives a wrapped model may say no."""
    function = site.point.scope.function
    flags = {each.name for each in function.params} if function is not None else set()
    flag_tests = (
        test.value if isinstance(test, ir.Not) else test for test in tests_around(site.point)
    )
    return any(isinstance(test, ir.Name) and test.id in flags for test in flag_tests)


def _stores_item(site: CallSite) -> bool:
    """Is it the name under which something is stored: ``clean[key.replace(...)] = value``?"""
    statement = site.point.statement
    return isinstance(statement, ir.Assign) and any(
        isinstance(target, ir.Subscript)
        and any(inner is site.call for inner in expressions_in(target.index))
        for target in statement.targets
    )
