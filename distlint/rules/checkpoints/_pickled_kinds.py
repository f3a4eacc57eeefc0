"""Which values a pickle stores as objects of a class, which `torch.load` accepts by leave only.

What it accepts without is tensors, parameters, numbers, text, bytes, None, `torch.Size`, dtypes and
devices, in dicts, lists, tuples and sets, `OrderedDict` and `Counter`. Tried with torch 2.13.
"""

from __future__ import annotations

import builtins

from distlint.analyzer import ir
from distlint.analyzer.static.inheritance import bases_elsewhere, imported_class
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point

NAMESPACE = "argparse.Namespace"

CLASS = "class "
"""What the name of a class begins with that is stored itself."""

_DEPTH = 4
"""How many containers and copies are looked into."""

_CLASSES = {
    "argparse.Namespace": NAMESPACE,
    "types.SimpleNamespace": "types.SimpleNamespace",
    "easydict.EasyDict": "EasyDict",
    "yacs.config.CfgNode": "yacs.config.CfgNode",
    "fvcore.common.config.CfgNode": "CfgNode",
    "detectron2.config.CfgNode": "CfgNode",
    "detectron2.config.get_cfg": "CfgNode",
    "addict.Dict": "addict.Dict",
    "munch.Munch": "Munch",
    "munch.munchify": "Munch",
    "ml_collections.ConfigDict": "ConfigDict",
    "ml_collections.FrozenConfigDict": "ConfigDict",
    "ml_collections.config_dict.ConfigDict": "ConfigDict",
    "omegaconf.OmegaConf.load": "DictConfig",
    "omegaconf.OmegaConf.create": "DictConfig",
    "omegaconf.OmegaConf.merge": "DictConfig",
    "omegaconf.OmegaConf.structured": "DictConfig",
    "omegaconf.OmegaConf.from_cli": "DictConfig",
    "omegaconf.DictConfig": "DictConfig",
    "omegaconf.ListConfig": "ListConfig",
    "hydra.compose": "DictConfig",
    "mmcv.Config.fromfile": "mmcv.Config",
    "mmengine.Config.fromfile": "mmengine.Config",
    "mmengine.config.Config.fromfile": "mmengine.Config",
    "pathlib.Path": "pathlib.Path",
    "pathlib.PurePath": "pathlib.PurePath",
    "datetime.datetime.now": "datetime.datetime",
    "datetime.datetime.today": "datetime.datetime",
    "datetime.datetime.utcnow": "datetime.datetime",
    "datetime.timedelta": "datetime.timedelta",
    "collections.defaultdict": "collections.defaultdict",
    "collections.deque": "collections.deque",
    "numpy.random.default_rng": "numpy generator",
}
"""What is made by calls of libraries, as the error names it."""

_NUMPY = frozenset(
    {
        "array", "asarray", "zeros", "ones", "empty", "full", "arange", "linspace", "concatenate",
        "stack", "hstack", "vstack", "mean", "sum", "max", "min", "amax", "amin", "median", "std",
        "var", "nanmean", "average", "percentile", "quantile", "float16", "float32", "float64",
        "int32", "int64", "bool_", "random.get_state", "random.rand", "random.randn",
        "random.permutation", "random.uniform",
    }
)  # fmt: skip
"""Functions of numpy that return arrays and scalars of numpy, whatever they are given."""

_PARSERS = ("ArgumentParser", "ArgParser")
_COPIES = ("copy.copy", "copy.deepcopy")
_KEEPS = frozenset({"clone", "copy"})
"""Methods of configurations that give another one."""

_OWN_WAYS = frozenset({"__reduce__", "__reduce_ex__", "__new__"})
"""Methods by which a class says itself how it is stored, or what it makes."""


_KNOWN_BASES = frozenset(
    {
        "abc.ABC", "enum.Enum", "enum.IntEnum", "typing.NamedTuple", "typing.Generic",
        "collections.OrderedDict", "collections.UserDict", "torch.optim.Optimizer",
        "torch.optim.lr_scheduler._LRScheduler", "torch.optim.lr_scheduler.LRScheduler",
    }
)  # fmt: skip
"""Bases of other packages whose objects are stored in that way, too."""


def kind_of(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> str:
    """The class of an object that is stored with a value, by name; ``""`` if none is known."""
    if not depth:
        return ""
    found = objects.origins(node, point)
    kinds = [_kind(objects, each, depth) for each in found]
    named = [kind for kind in kinds if kind]
    rest = [each for each, kind in zip(found, kinds, strict=True) if not kind]
    return named[0] if named and all(isinstance(each.node, ir.Literal) for each in rest) else ""


def _kind(objects: Objects, origin: Origin, depth: int) -> str:
    if origin.attributes:
        return ""
    node, point = origin.node, origin.point
    if isinstance(node, ir.Class) and origin.item is None:
        return f"{CLASS}{node.name}"
    if isinstance(node, ir.Call):
        return _made_by(objects.at(point), origin, depth)
    if origin.item is not None or not isinstance(node, ir.Expr):
        return ""
    if isinstance(node, ir.Name):
        return "DictConfig" if _is_given_by_hydra(objects.at(point), node, point) else ""
    parts: tuple[ir.Expr, ...] = ()
    if isinstance(node, ir.DictDisplay):
        parts = node.values
    elif isinstance(node, ir.Display):
        parts = tuple(node.items)
    return next((kind for each in parts if (kind := kind_of(objects, each, point, depth - 1))), "")


def _made_by(objects: Objects, origin: Origin, depth: int) -> str:
    """The class of what a call returns."""
    call, point, site = origin.node, origin.point, origin.site
    assert isinstance(call, ir.Call)
    func = call.func
    if _parses(objects, call, point):
        whole = ir.last_name(func) == "parse_args" and origin.item is None
        first = ir.last_name(func) == "parse_known_args" and origin.item == 0
        return NAMESPACE if whole or first else ""
    if ir.last_name(func) == "parse_args_into_dataclasses":
        return "dataclass" if origin.item is not None else ""
    if site is None:
        return ""
    called = objects.called(site)
    if called == "tyro.cli" and call.args:
        return ir.last_name(call.args[0].value)
    if called in _CLASSES:
        return _CLASSES[called]
    if called.startswith("numpy.") and called.partition(".")[2] in _NUMPY:
        return "numpy"
    if called.startswith("torch.optim.") and called.rpartition(".")[2][:1].isupper():
        return called
    if called in _COPIES and call.args:
        return kind_of(objects, call.args[0].value, point, depth - 1)
    there, callee = objects.callee_anywhere(site) or (objects, None)
    if isinstance(callee, ir.Class):
        return callee.name if _is_stored_by_class(there, callee) else _of_bases(there, callee)
    if isinstance(func, ir.Attribute) and func.attr in _KEEPS and not call.args:
        return kind_of(objects, func.value, point, depth - 1)
    return ""


def _parses(objects: Objects, call: ir.Call, point: Point) -> bool:
    """Is it a method of an ``ArgumentParser``?"""
    func = call.func
    if not isinstance(func, ir.Attribute) or not func.attr.startswith("parse_"):
        return False
    made = objects.origins(func.value, point)
    return bool(made) and all(
        each.site is not None
        and objects.at(each.point).called(each.site).rpartition(".")[2] in _PARSERS
        and objects.callee_anywhere(each.site) is None
        for each in made
    )


def _is_stored_by_class(objects: Objects, cls: ir.Class) -> bool:
    """Is an object of a class stored with the name of that, as pickle does by default?"""
    own = [(objects, each) for each in objects.classes.with_bases(cls)]
    for there, each in (*own, *bases_elsewhere(objects, cls)):
        if not _OWN_WAYS.isdisjoint(each.methods):
            return False
        if not all(_is_known_base(there, base) for base in each.bases):
            return False
    return True


def _is_known_base(objects: Objects, base: ir.Expr) -> bool:
    base = base.value if isinstance(base, ir.Subscript) else base
    if imported_class(objects, base) is not None or _dotted(objects, base) in _KNOWN_BASES:
        return True
    return isinstance(base, ir.Name) and (
        base.id in objects.module.classes or hasattr(builtins, base.id)
    )


def _of_bases(objects: Objects, cls: ir.Class) -> str:
    """The configuration that a class derives from: ``class CfgNode(yacs.config.CfgNode)``."""
    return next((_CLASSES[d] for b in cls.bases if (d := _dotted(objects, b)) in _CLASSES), "")


def _dotted(objects: Objects, base: ir.Expr) -> str:
    return objects.names.dotted(base, objects.names.scopes[0]) or ""


def _is_given_by_hydra(objects: Objects, node: ir.Name, point: Point) -> bool:
    """Is it the parameter of a function that hydra calls with the configuration?"""
    function = point.scope.function
    if function is None or not function.params or function.params[0].name != node.id:
        return False
    return any("hydra" in ir.tokens_of(each) for each in function.decorators)
