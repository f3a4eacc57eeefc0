"""DST402: a prefix that is taken off by hand, and more than it, or for the wrong model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_of
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._cut_names import cuts_in, dicts_around
from distlint.rules.checkpoints._submodules import name_that_is_cut
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
    from distlint.rules.checkpoints._cut_names import Cut
    from distlint.source.document import Document

_WORDS = ("module.", "_orig_mod.", "module\\.")
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

    - `key.lstrip("module.")` and `key.strip("module.")`, which remove any of these characters:
      `module.layer1.weight` becomes `ayer1.weight`. A warning.
    - `key.replace("module.", "")`, `key.split("module.")[-1]` and `re.sub("module.", "", key)` on
      the keys of a state dict, which cut the word everywhere and not only at the start. A warning
      where the model that is loaded is seen to have such a name inside, such as
      `self.sub_module`; else in preview. (One of 8 such calls in 58 repositories met a key that
      contains the word twice.)
    - A state dict whose prefix has been removed is loaded into a wrapped model, which expects the
      prefix. A warning.

    ## What is not reported

    - Only the start is removed: `removeprefix`, `key[7:]`, or a pattern that begins with `^`.
    - `key.replace("_orig_mod.", "")`: blocks that are compiled one by one have it further inside,
      where it has to be removed as well.
    - The string is not a key of a state dict.
    - For wrapped models: the keys of the model, or a parameter of the function, decide whether the
      prefix is removed.

    ## Fix safety

    Unsafe: `replace("module.", "")` and `lstrip("module.")` become `removeprefix("module.")`. Keys
    with the prefix further inside keep it, such as those of a module that is wrapped inside another
    one. Not offered in a project that supports Python 3.8, which lacks `removeprefix`.

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
        if not any(word in token for token in module.tokens for word in _WORDS):
            return
        objects = objects_of(module, catalogue)
        cuts = list(cuts_in(objects))
        for cut in cuts:
            yield from self._of_cut(cut, objects, locators)
        yield from self._into_wrapper(objects, cuts, module, locators)

    def _of_cut(self, cut: Cut, objects: Objects, locators: Locators) -> Iterator[Finding]:
        """A finding where a call may take off more than the prefix."""
        locator = locators.of(objects.module.key)
        name = name_that_is_cut(objects, cut) if cut.anywhere else None
        if cut.characters:
            message = f"`{cut.way}` removes characters, not the prefix `{cut.prefix}`"
            effect = (
                "`module.layer1.weight` becomes `ayer1.weight`, and no longer matches the model"
            )
        elif cut.anywhere:
            message = f"`{cut.way}` removes `{cut.prefix}` anywhere in the key"
            effect = "a key with the word further inside no longer matches the model"
        else:
            return
        if name is not None:
            left = cut.applied_to(f"{name}.weight")
            effect = f"the model has `{name}`: its key `{name}.weight` becomes `{left}`"
        finding = self.finding(
            message=message,
            severity=Severity.WARNING if cut.characters or name else Severity.INFO,
            place=locator.place(cut.site.call.site),
            effect=effect,
            help=f"Use `{_CURE}` or `str.removeprefix`",
            fix=partial(_fix, cut, Draft(locator, objects.module, objects.catalogue)),
        )
        yield finding if cut.characters or name else replace(finding, preview=True)

    def _into_wrapper(
        self, objects: Objects, cuts: list[Cut], module: Module, locators: Locators
    ) -> Iterator[Finding]:
        for load in objects.calls({"load_state_dict"}):
            func, args = load.call.func, load.call.args
            if not (isinstance(func, ir.Attribute) and args and isinstance(args[0].value, ir.Name)):
                continue
            made = {
                id(origin.node)
                for origin in objects.origins(args[0].value, load.point)
                if isinstance(origin.node, (ir.Comprehension, ir.Call))
            }
            sources = [cut.site for cut in cuts if made & set(dicts_around(cut.site))]
            if any(map(_asks_the_model, sources)) or any(map(_is_for_the_caller, sources)):
                continue
            wrapper = wrapper_of(objects, func.value, load.point) if sources else None
            prefixes = {cut.prefix for cut in cuts if cut.site in sources}
            if wrapper is not None and wrapper.prefix in prefixes:
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


def _fix(cut: Cut, draft: Draft) -> Fix:
    if runs_on_older_python(draft.document.path, "3.9"):
        raise CannotFix("Python 3.8 has no removeprefix")
    call = draft.node(cut.site.call.site, cst.Call)
    if cut.way not in ("replace", "lstrip"):
        raise CannotFix("it is not certain what else the call is meant to remove")
    names.rename(draft, call.func, "removeprefix")
    if cut.way == "replace":
        calls.remove_argument(draft, call, call.args[1])
    return draft.fix("unsafe", "Remove the prefix only at the start of the key")


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
