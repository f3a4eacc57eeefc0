"""Objects are followed back to the calls that made them, and on to what uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locator
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import ELEMENT, Point
from distlint.source.document import Document

HEAD = """\
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Net:
    pass


"""


class Followed:
    """A module, and what its calls of ``probe`` are given."""

    def __init__(self, source: str) -> None:
        document = Document.from_bytes((HEAD + source).encode(), Path("script.py"))
        project = Project(Path())
        module = project.add(document)
        self.locator = Locator(document)
        self.objects: Objects = objects_of(module, project.catalogue_of(module))

    def probed(self) -> list[set[str]]:
        """The origins of each probed expression, as text."""
        return [
            {self.text(origin) for origin in self.objects.origins(argument.value, site.point)}
            for site in self.objects.calls({"probe"})
            for argument in site.call.args
        ]

    def text(self, origin: Origin) -> str:
        if isinstance(origin.node, ir.Call):
            text = self.locator.text(origin.node.site)
        elif isinstance(origin.node, ir.Literal):
            text = repr(origin.node.value)
        elif isinstance(origin.node, ir.Name):
            text = origin.node.id
        else:
            text = "?"
        item = {None: "", ELEMENT: "[*]"}.get(origin.item, f"[{origin.item}]")
        return ".".join((text + item, *origin.attributes))

    def site(self, name: str) -> CallSite:
        return next(iter(self.objects.calls({name})))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("model = Net()\nprobe(model)\nmodel = DDP(model)\n", "Net()"),
        ("model = Net()\nmodel = DDP(model)\nprobe(model)\n", "DDP(model)"),
        ("model = Net().to(device)\nprobe(model.cuda())\n", "Net()"),
        ("model = Net()\nif many:\n    model = DDP(model)\nprobe(model)\n", "Net() DDP(model)"),
        ("if a:\n    x = A()\nelse:\n    x = B()\nprobe(x)\n", "A() B()"),
        ("x = A()\nif a:\n    x = B()\n    raise E\nprobe(x)\n", "A()"),
        ("x = A() if a else None\nprobe(x)\n", "A() None"),
        ("x = None\nfor i in y:\n    probe(x)\n    x = A()\n", "None A()"),
        ("try:\n    x = A()\nexcept E:\n    x = B()\nprobe(x)\n", "A() B()"),
        ("with A() as x:\n    probe(x)\n", "A()"),
        ("x = A()\nx += 1\nprobe(x)\n", "?"),
        ("x = A()\ndel x\nprobe(x)\n", ""),
        ("a, (b, c) = A(), (B(), C())\nprobe(c)\n", "C()"),
        ("a, b = make()\nprobe(b)\n", "make()[1]"),
        ("for x in xs():\n    probe(x)\n", "xs()[*]"),
        ("core = DDP(Net()).module\nprobe(core)\n", "DDP(Net()).module"),
        ("probe(unknown)\n", "unknown"),
    ],
)
def test_assignments(source: str, expected: str) -> None:
    assert Followed(source).probed() == [set(expected.split())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # returns, also as a tuple, also of a function that calls another one
        ("def f():\n    return Net()\nprobe(f())\n", "Net()"),
        ("def f():\n    return A(), B()\na, b = f()\nprobe(b)\n", "B()"),
        ("def f():\n    x = A()\n    return x\ndef g():\n    return f()\nprobe(g())\n", "A()"),
        ("def f(x):\n    return DDP(x) if many else x\nprobe(f(Net()))\n", "DDP(x) Net()"),
        # parameters: by position, by keyword, by default; without a call they are unknown
        ("def f(x):\n    probe(x)\nf(A())\n", "A()"),
        ("def f(x, y=None):\n    probe(y)\nf(1, y=A())\nf(2)\n", "A() None"),
        ("def f(x):\n    probe(x)\n", "x"),
        ("def f(*x):\n    probe(x)\nf(A())\n", "x"),
        ("def f(x):\n    probe(x)\nf(*args)\n", "x"),
        # what a function sees of the scopes around it
        ("x = A()\nx = B()\ndef f():\n    probe(x)\n", "B()"),
        ("def f():\n    x = A()\n    def g():\n        probe(x)\n", "A()"),
        ("x = None\ndef f():\n    global x\n    x = A()\ndef g():\n    probe(x)\n", "None A()"),
        # recursion ends
        ("def f(x):\n    probe(x)\n    f(x)\nf(A())\n", "A() x"),
        ("def f():\n    return f()\nprobe(f())\n", "f()"),
    ],
)
def test_functions(source: str, expected: str) -> None:
    assert Followed(source).probed() == [set(expected.split())]


TRAINER = """\
class Trainer:
    size = 4

    def __init__(self, model, loader):
        self.model = DDP(model)
        self.loader = loader
        if not loader:
            return

    @property
    def core(self):
        return self.model.module

    def fit(self):
        probe(self.{0})


trainer = Trainer(Net(), DataLoader(data))
probe(trainer.{0})
"""


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("model", "DDP(model)"),
        ("loader", "DataLoader(data)"),
        ("core", "DDP(model).module"),
        ("size", "4"),
    ],
)
def test_attributes_of_objects(attribute: str, expected: str) -> None:
    assert Followed(TRAINER.format(attribute)).probed() == [{expected}, {expected}]


def test_attributes_of_a_base_class() -> None:
    source = "class A:\n    def __init__(self):\n        self.x = Net()\n"
    source += "class B(A):\n    def f(self):\n        probe(self.x)\n"
    assert Followed(source).probed() == [{"Net()"}]


@pytest.mark.parametrize(
    ("arguments", "value", "known"),
    [
        ("a", "a", True),
        ("p=a", "a", True),
        ("", None, True),
        ("q=a", None, True),
        ("*a", None, False),
        ("**options", None, False),
        ("**spelled", "x", True),
        ("**dict(p=a)", "a", True),
        ("**changed", "x", True),
        ("**handed_on(changed)", "x", True),
    ],
)
def test_what_a_call_passes(arguments: str, value: str | None, known: bool) -> None:
    source = "spelled = {'p': x}\nchanged = {'p': x}\nchanged['q'] = y\n"
    source += "def handed_on(options):\n    return options\n"
    followed = Followed(source + f"probe({arguments})\n")
    passed = followed.objects.argument(followed.site("probe"), "p", 0)
    assert passed.known is known
    assert (passed.value.id if isinstance(passed.value, ir.Name) else None) == value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("DDP(prepare)\n", "torch.nn.parallel.DistributedDataParallel"),
        ("import torch\ntorch.utils.data.distributed.DistributedSampler(d)\n",
         "torch.utils.data.DistributedSampler"),
        ("def f(acc: Accelerator):\n    acc.prepare(x)\n", "accelerate.Accelerator.prepare"),
        ("acc = Accelerator()\nacc.prepare(x)\n", "accelerate.Accelerator.prepare"),
        ("accelerator.prepare(x)\n", "accelerate.Accelerator.prepare"),
        ("from mine import *\nprepare(x)\n", "prepare"),
        ("from mine import prepare\nprepare(x)\n", "mine.prepare"),
        ("def prepare(x):\n    pass\nprepare(x)\n", ""),
        ("def f(prepare):\n    prepare(x)\n", ""),
    ],
)  # fmt: skip
def test_the_dotted_name_of_what_is_called(source: str, expected: str) -> None:
    objects = Followed(source).objects
    sites = objects.calls({"prepare", "DistributedDataParallel", "DistributedSampler"})
    assert [objects.called(site) for site in sites] == [expected]


def test_uses_of_an_object() -> None:
    followed = Followed(
        "sampler = DistributedSampler(data)\n"
        "loader = DataLoader(data, sampler=sampler)\n"
        "other = DataLoader(data)\n"
        "for epoch in range(3):\n"
        "    sampler.set_epoch(epoch)\n"
        "    for step, batch in enumerate(tqdm(loader)):\n"
        "        other.reset()\n"
        "        use(batch)\n"
    )
    objects = followed.objects
    sampler, loader = followed.site("DistributedSampler").call, followed.site("DataLoader").call
    passed = [(site.call, argument.keyword) for site, argument in objects.uses.passed_to(sampler)]
    assert passed == [(loader, "sampler")]
    methods = objects.uses.methods_on(sampler, {"set_epoch", "reset"})
    assert [site.call for site in methods] == [followed.site("set_epoch").call]
    assert len(list(objects.uses.iterated_by(loader))) == 1
    assert [site.name for site, _ in objects.uses.passed_to(loader)] == ["tqdm"]
    assert list(objects.uses.iterated_by(sampler)) == []


def test_rules_of_a_module_share_what_was_found() -> None:
    objects = Followed("probe(Net())\n").objects
    assert objects_of(objects.module, objects.catalogue) is objects


def test_an_object_that_is_made_from_itself() -> None:
    followed = Followed(
        "class Chain:\n    def grow(self):\n        return Chain()\n\n\n"
        "chain = None\nfor _ in range(3):\n    chain = chain.grow()\n"
    )
    assert followed.objects.callee(followed.site("grow")) is None


def test_a_pair_that_is_made_anew_of_its_own_items() -> None:
    followed = Followed(
        "state = (0, 1)\nfor _ in range(3):\n    state = (state[0], state[1])\nprobe(state[0])\n"
    )
    site = followed.site("probe")
    origins = followed.objects.origins(site.call.args[0].value, site.point)
    assert any(getattr(origin.node, "value", None) == 0 for origin in origins)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("held[key] = DataLoader(1)\nfor k, x in held.items():\n    probe(x)", "1"),
        ("held[key] = DataLoader(1)\nfor x in tqdm(held.values()):\n    probe(x)", "1"),
        ("held[key] = DataLoader(1)\nprobe(held[other])", "1"),
        ("held.update(a=DataLoader(1))\nfor k in held:\n    probe(held[k])", "1"),
        ("row.append(DataLoader(1))\nfor n, x in enumerate(row):\n    probe(x)", "1"),
        ("row.append(DataLoader(1))\nrow += [DataLoader(2)]\nprobe(row[-1])", "12"),
        ("row.append(DataLoader(1))\nfor x, y in zip(keys, row):\n    probe(y)", "1"),
        ("row = [DataLoader(1) for k in keys]\nfor x in sorted(row):\n    probe(x)", "1"),
        ("held = {k: DataLoader(1) for k in keys}\nprobe(held[k])", "1"),
        ("def put(d):\n    d[k] = DataLoader(1)\nput(held)\nprobe(held[k])", "1"),
        ("row.append(DataLoader(1))\nrow.append(DataLoader(2))\nprobe(row[0])", "12"),
        ("held[key] = DataLoader(1)\nfor k in held:\n    probe(k)", ""),
        ("other[key] = DataLoader(1)\nfor x in held.values():\n    probe(x)", ""),
        ("row.append(DataLoader(1))\nprobe(row[1:])", ""),
    ],
)
def test_what_a_container_holds(source: str, found: str) -> None:
    followed = Followed(f"from tqdm import tqdm\nheld, other = {{}}, {{}}\nrow = []\n{source}\n")
    (probed,) = followed.probed()
    assert {each for each in probed if "DataLoader" in each} == {f"DataLoader({n})" for n in found}


CONTAINERS = """\
def walk(x):
    if isinstance(x, dict):
        return {key: walk(value) for key, value in x.items()}
    if isinstance(x, Packed):
        walk(x.data)
        return x
    if isinstance(x, tuple):
        fields = x._asdict()
        return type(x)(**{key: walk(value) for key, value in fields.items()})
    if isinstance(x, Pair):
        return Pair(walk(x.first), walk(x.second), walk(x.rest.first), walk(x.rest.second))
    probe(x.data)
    return x


walk(Net())
"""
TREE = """\
class Visitor:
    def visit(self, node, parent):
        self.visit(node.left, node)
        self.visit(node.right, node)
        self.visit(node.parent.left, parent.parent)
        self.visit(node.parent.right, parent.left)
        probe(node.left, parent.right)


Visitor().visit(Net(), Net())
"""
BY_TURNS = """\
def even(a, b):
    odd(a.x, b.y), odd(b.x, a.y), odd(a.z, b.z)
    probe(a.x, b)


def odd(c, d):
    even(c.x, d.y), even(d.x, c.y), even(c.z, d.z)
    probe(c.x, d)


even(Net(), Net())
"""


@pytest.mark.parametrize("source", [CONTAINERS, TREE, BY_TURNS])
def test_functions_that_call_themselves_with_attributes(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    resolve = Origins._resolve

    def counted(self: Origins, node: ir.Expr, point: Point) -> Iterator[Origin]:
        nonlocal asked
        asked += 1
        assert asked < 20_000, "asks for ever longer attributes"
        return resolve(self, node, point)

    monkeypatch.setattr(Origins, "_resolve", counted)
    assert all(Followed(source).probed())
