"""Rules about the source alone: what they report and, mostly, what they leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.positions import Locators
from distlint.analyzer.project import Project
from distlint.engine.trial import marks as expected
from distlint.rules.base import Rule, SourceRule
from distlint.rules.registry import rules
from distlint.source.document import Document
from distlint.source.finding import Finding, Severity
from tests.support import SCRIPT, fixes, found_in

HEAD = "import torch\nimport torch.distributed as dist\n\n"


def reported(source: str, code: str) -> list[tuple[int, str]]:
    """The (row, code) pairs that one rule reports, without any rehearsal."""
    return [(finding.place.span.row, code) for finding in asked(source, code, SCRIPT)]


def asked(source: str, code: str, path: Path) -> list[Finding]:
    rule = rules()[code]()
    assert isinstance(rule, SourceRule)
    document = Document.from_bytes(source.encode(), path)
    project = Project(path.parent)
    module = project.add(document)
    locators = Locators()
    locators.add(document)
    catalogue = project.catalogue(module.imported_roots)
    found = rule.check(document, module, catalogue, locators)
    return sorted(found, key=lambda finding: finding.sort_key)


def check(source: str, code: str) -> None:
    assert reported(source, code) == expected(source)


# ---- DST107

ACCELERATOR = "from accelerate import Accelerator\n\naccelerator = Accelerator()\n"


@pytest.mark.parametrize(
    "source",
    [
        ACCELERATOR + "if accelerator.check_breakpoint():  # expect: DST107\n    pass\n",
        "import accelerate\nacc = accelerate.Accelerator()\nacc.use_fp16  # expect: DST107\n",
        "from accelerate.accelerator import Accelerator as A\n"
        "class T:\n"
        "    def __init__(self):\n"
        "        self.helper = A()\n"
        "    def step(self):\n"
        "        self.helper.set_breakpoint()  # expect: DST107\n",
        "from accelerate import Accelerator\n"
        "def stop(it: Accelerator):\n"
        "    it.set_breakpoint()  # expect: DST107\n",
        "from accelerate import Accelerator\n"
        "a = Accelerator(dispatch_batches=True, even_batches=False)  # expect: DST107\n",
    ],
)
def test_a_name_that_accelerate_does_not_have(source: str) -> None:
    check(source, "DST107")


@pytest.mark.parametrize(
    "source",
    [
        # another object
        "from accelerate import Accelerator\nimport bdb\ndebugger = bdb.Bdb()\n"
        "debugger.set_breakpoint()\n",
        # not Accelerate's
        "from mine import Accelerator\naccelerator = Accelerator(even_batches=True)\n"
        "accelerator.set_breakpoint()\n",
        # a subclass of the project's own, from elsewhere
        "from accelerate import Accelerator\nfrom mine import Stoppable\n"
        "accelerator = Stoppable()\naccelerator.set_breakpoint()\n",
        # members and arguments that exist
        "from accelerate import Accelerator\naccelerator = Accelerator(split_batches=True)\n"
        "print(accelerator.even_batches, accelerator.logging_dir)\n"
        "with accelerator.join_uneven_inputs([], even_batches=False):\n    pass\n",
        # asked for first
        ACCELERATOR
        + "half = accelerator.use_fp16 if hasattr(accelerator, 'use_fp16') else False\n",
        ACCELERATOR + "half = getattr(accelerator, 'use_fp16', False) or accelerator.use_fp16\n",
        "import accelerate\nfrom accelerate import Accelerator\n"
        "if accelerate.__version__ < '1.0':\n    a = Accelerator(even_batches=True)\n"
        "else:\n    a = Accelerator()\n",
        "from accelerate import Accelerator\n"
        "try:\n    a = Accelerator(even_batches=True)\nexcept TypeError:\n    a = Accelerator()\n",
        # given by the script itself
        ACCELERATOR + "accelerator.use_fp16 = True\nprint(accelerator.use_fp16)\n",
        # deprecated, but there
        "from accelerate.utils import FP8RecipeKwargs\nprint(FP8RecipeKwargs())\n",
    ],
)
def test_no_finding_about_accelerate(source: str) -> None:
    assert reported(source, "DST107") == []


@pytest.mark.parametrize(
    ("file", "text", "silent"),
    [
        ("requirements.txt", "torch>=2\naccelerate==0.22.0\n", True),
        ("requirements_sdxl.txt", "accelerate[testing]~=0.16.0  # old\n", True),
        ("pyproject.toml", '[tool.poetry.dependencies]\naccelerate = "^0.29"\n', True),
        ("setup.py", "setup(install_requires=['accelerate>=0.16,<1.0', 'numpy'])\n", True),
        ("environment.yml", "dependencies:\n  - accelerate<=0.34.2\n", True),
        ("requirements.txt", "accelerate>=0.16.0\n", False),
        ("requirements.txt", "accelerate==1.0.0\n", False),
        ("requirements.txt", "accelerate~=1.2\nnumpy<1\n", False),
        ("requirements.txt", "my-accelerate==0.1\n", False),
        ("setup.py", "setup(install_requires=['accelerate', 'numpy<1'])\n", False),
    ],
)
def test_a_project_that_asks_for_the_old_version(
    tmp_path: Path, file: str, text: str, silent: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(text)
    (tmp_path / "examples").mkdir()
    script = tmp_path / "examples" / "train.py"
    source = "from accelerate import Accelerator\na = Accelerator(even_batches=False)\n"
    assert len(asked(source, "DST107", script)) == (0 if silent else 1)


def test_the_requirements_nearest_to_the_file_decide(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("accelerate>=1.2\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "requirements.txt").write_text("accelerate==0.18.0\n")
    source = "from accelerate import Accelerator\na = Accelerator(even_batches=False)\n"
    for folder, count in ((tmp_path, 1), (tmp_path / "old", 0)):
        assert len(asked(source, "DST107", folder / "train.py")) == count


def test_the_repository_of_accelerate_itself_is_left_alone(tmp_path: Path) -> None:
    package = tmp_path / "src" / "accelerate"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    source = "from accelerate import Accelerator\na = Accelerator(even_batches=False)\n"
    assert asked(source, "DST107", tmp_path / "tests" / "test_it.py") == []


# ---- DST118: the value of a call that returns None


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    x = dist.all_reduce(x)  # expect: DST118\n    return x\n",
        "def f(x):\n    return dist.all_reduce(x) / dist.get_world_size()  # expect: DST118\n",
        "def f(x):\n    y = x * 2\n    return dist.all_reduce(y)  # expect: DST118\n",
        "def f(x):\n    return dist.all_reduce(x.contiguous())  # expect: DST118\n",
        "def f(x):\n    parts = [x, x]\n    y = dist.all_gather(parts, x)  # expect: DST118\n"
        "    print(y[0])\n",
        "def f(m):\n    d = dist.broadcast_object_list([m], src=0)[0]  # expect: DST118\n"
        "    return d\n",
        "def f(x):\n    work = dist.all_reduce(x)  # expect: DST118\n    work.wait()\n",
        "def f(m, many):\n    if many:\n"
        "        m = dist.broadcast_object_list(m)  # expect: DST118\n"
        "    return m[0]\n",
        "def f(x, world):\n    x = dist.all_reduce(x) if world > 1 else x  # expect: DST118\n"
        "    print(x.item())\n",
        "class A:\n    def f(self):\n"
        "        self.total = dist.all_reduce(self.total)  # expect: DST118\n",
        "def f(m):\n    m['loss'] = dist.all_reduce(m['loss'])  # expect: DST118\n",
        "def f(x):\n    print('sum', dist.all_reduce(x, async_op=False))  # expect: DST118\n",
        "def total(x):\n    return dist.all_reduce(x)  # expect: DST118\n\n"
        "loss = total(torch.ones(1))\n",
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        return dist.all_reduce(x)  # expect: DST118\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return dist.all_reduce(g), None  # expect: DST118\n",
        "from torch.distributed import all_reduce as sum_up\n"
        "def f(x):\n    y = sum_up(x)  # expect: DST118\n    return y + 1\n",
    ],
)
def test_none_is_used(body: str) -> None:
    check(HEAD + body, "DST118")


@pytest.mark.parametrize(
    "body",
    [
        # nobody uses it
        "def f(x):\n    work = dist.all_reduce(x)\n    return x\n",
        "def f(p, lst):\n    p = dist.all_gather(lst, p)\n    p = torch.cat(lst)\n    return p\n",
        "f = lambda x: dist.all_reduce(x)\n",
        "f = lambda x: dist.all_reduce(x) or x\n",
        "def f(xs):\n    [dist.all_reduce(x) for x in xs]\n",
        "def f(x, many):\n    many and dist.all_reduce(x)\n",
        # a wrapper that has the signature of what it wraps
        "def all_reduce(x, group=None):\n    return dist.all_reduce(x, group=group)\n",
        "def all_reduce(x):\n    work = dist.all_reduce(x)\n    return work\n",
        "def hook(bucket):\n    return dist.all_reduce(bucket.buffer())\n",
        # a handle, or perhaps one
        "def f(x):\n    work = dist.all_reduce(x, async_op=True)\n    work.wait()\n    return x\n",
        "def f(x, later):\n    w = dist.all_reduce(x, async_op=later)\n    return x, w\n",
        "def f(x, **options):\n    w = dist.all_reduce(x, **options)\n    return x, w\n",
        "def f(x):\n    w = dist.all_reduce(x, dist.ReduceOp.SUM, None, True)\n    w.wait()\n",
        # asked for
        "def f(x):\n    w = dist.all_reduce(x)\n    if w is not None:\n        w.wait()\n"
        "    return x\n",
        "def f(x):\n    w = dist.all_reduce(x)\n    if w:\n        w.wait()\n    return x\n",
        "def f(x):\n    assert dist.all_reduce(x) is None\n",
        "def f(self, x):\n    w = dist.all_reduce(x)\n    self.assertIsNone(w)\n",
        # another function of this name
        "from mine import dist\ndef f(x):\n    x = dist.all_reduce(x)\n    return x + 1\n",
        "def f(x, dist):\n    x = dist.all_reduce(x)\n    return x + 1\n",
        "try:\n    import mine.dist as dist\nexcept ImportError:\n    pass\n"
        "def f(x):\n    x = dist.all_reduce(x)\n    return x + 1\n",
        # functional collectives
        "import torch.distributed.nn.functional as F\n"
        "def f(x):\n    x = F.all_reduce(x)\n    return x + 1\n",
        "import torch.distributed._functional_collectives as C\n"
        "def f(x):\n    x = C.all_reduce(x, 'sum', dist.group.WORLD)\n    return x + 1\n",
        "from accelerate.utils import broadcast_object_list\n"
        "def f(x):\n    x = broadcast_object_list(x)\n    return x[0]\n",
        "import horovod.torch as hvd\ndef f(x):\n    x = hvd.allreduce_(x)\n    return x + 1\n",
        "import composer.utils.dist as cd\ndef f(x):\n    x = cd.all_gather_object(x)\n"
        "    return x[0]\n",
    ],
)
def test_none_is_not_used(body: str) -> None:
    assert reported(HEAD + body, "DST118") == []


# ---- DST118: a result that is on one rank


@pytest.mark.parametrize(
    "body",
    [
        "def f(x, best):\n    dist.reduce(x, 0)\n    if x.item() < best:  # expect: DST118\n"
        "        return x\n",
        "def f(x, best):\n    dist.reduce(x, dst=0)\n    x /= 4  # expect: DST118\n"
        "    mean = x.item()\n    better = mean < best\n    while better:\n        break\n",
        "def f(x):\n    out = [x, x]\n    dist.gather_object(x, out)\n"
        "    for part in out:\n        print(part.item())  # expect: DST118\n",
        "def f(x):\n    dist.reduce(x, 0, async_op=False)\n"
        "    print('mean', x.item())  # expect: DST118\n",
    ],
)
def test_a_partial_result_decides(body: str) -> None:
    check(HEAD + body, "DST118")


RANK = "rank = dist.get_rank()\n"


@pytest.mark.parametrize(
    "body",
    [
        # read on the destination
        "def f(x, rank):\n    dist.reduce(x, 0)\n    if rank == 0 and x.item() < 1:\n"
        "        print(x)\n",
        "def f(x, rank):\n    dist.reduce(x, 0)\n    if rank > 0:\n        return\n"
        "    print(x.item())\n",
        "def f(x, is_master):\n    dist.reduce(x, 0)\n    x /= 8\n    if is_master:\n"
        "        print(x)\n",
        "def f(x, rank):\n    if rank in (0, 1):\n        dist.reduce(x, 0)\n"
        "        print(x.item())\n",
        # only rank 0 divides: the author knows
        "def f(x):\n    dist.reduce(x, dst=0)\n    if dist.get_rank() == 0:\n        x /= 8\n"
        "    if x.item() > 1:\n        print(x)\n",
        # logged later, under a test
        "def f(x, log, step):\n    dist.reduce(x, 0)\n    mean = x.item() / 8\n"
        "    if step % 10 == 0:\n        print(mean)\n",
        "def f(x, logger, writer):\n    dist.reduce(x, 0)\n    stats = {'loss': x.item()}\n"
        "    if writer is not None:\n        writer.log(stats)\n",
        "def f(x, meter):\n    dist.reduce(x, 0)\n    meter.update(x.item())\n    return meter\n",
        "def f(x):\n    rt = x.clone()\n    dist.reduce(rt, 0)\n    rt /= 8\n    return rt\n",
        # says which rank speaks
        "def f(x, rank):\n    dist.reduce(x, 0)\n    print(f'rank {rank} has {x.item()}')\n",
        "def f(x):\n    dist.reduce(x, 0)\n    print('Rank ', dist.get_rank(), x[0])\n",
        # made valid everywhere, or another value
        "def f(x):\n    dist.reduce(x, 0)\n    x = x / 8\n    dist.broadcast(x, src=0)\n"
        "    print(x)\n",
        "def f(x, share):\n    dist.reduce(x, 0)\n    share(x)\n    print(x)\n",
        "def f(x, share):\n    dist.reduce(x, 0)\n    mean = share(x.item())\n    print(mean)\n",
        "def f(x):\n    dist.reduce(x, 0)\n    x = torch.zeros(1)\n    print(x)\n",
        # the destination is not known, or it is this rank
        "def f(x, dst):\n    dist.reduce(x, dst)\n    print(x)\n",
        "def f(x):\n    dist.reduce(x, dist.get_rank())\n    print(x)\n",
        # what it is, not what is in it
        "def f(x):\n    dist.reduce(x, 0)\n    if x.numel() > 1:\n"
        "        raise ValueError(x.shape)\n",
        # a print that is silent on the other ranks
        "from rich import print\ndef f(x):\n    dist.reduce(x, 0)\n    print(x.item())\n",
    ],
)
def test_a_partial_result_does_no_harm(body: str) -> None:
    assert reported(HEAD + body, "DST118") == []


def test_the_severity_says_which_kind_it_is() -> None:
    source = (
        HEAD
        + "def f(x):\n    y = dist.all_reduce(x)\n    return y + 1\n\n"
        + "def g(x):\n    dist.reduce(x, 0)\n    print(x.item())\n"
    )
    found = asked(source, "DST118", SCRIPT)
    assert [finding.severity for finding in found] == [Severity.ERROR, Severity.WARNING]


# ---- DST119


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    dist.all_reduce(x, async_op=True)  # expect: DST119\n    return x\n",
        "def f(params):\n    for p in params:\n"
        "        dist.all_reduce(p.grad.data, async_op=True)  # expect: DST119\n"
        "        p.grad /= dist.get_world_size()\n",
        "def f(x):\n    work = dist.all_reduce(x, async_op=True)  # expect: DST119\n"
        "    y = x.view(-1).sum()\n    work.wait()\n    return y\n",
        "def f(x, out):\n    w = dist.all_gather(out, x, async_op=True)  # expect: DST119\n"
        "    y = torch.cat(out)\n    w.wait()\n    return y\n",
        "def f(x):\n    w = dist.broadcast(x, 0, async_op=True)  # expect: DST119\n"
        "    x[0] = 1\n    w.wait()\n",
        "class A:\n    def f(self):\n"
        "        _ = dist.all_reduce(self.c, async_op=True)  # expect: DST119\n"
        "        self.center = self.center * 0.9 + self.c * 0.1\n",
        "def f(x, rank):\n    dist.all_reduce(x, async_op=True)  # expect: DST119\n"
        "    if rank == 0:\n        print(x.item())\n",
        "def f(x, big):\n    if big:\n"
        "        w = dist.all_reduce(x, async_op=True)  # expect: DST119\n"
        "    y = x + 1\n    if big:\n        w.wait()\n    return y\n",
    ],
)
def test_read_before_the_end(body: str) -> None:
    check(HEAD + body, "DST119")


@pytest.mark.parametrize(
    "body",
    [
        # nothing reads it here
        "def f(params):\n    for p in params:\n        dist.all_reduce(p.grad, async_op=True)\n",
        "def f(x):\n    dist.all_reduce(x, async_op=True)\n    return None\n",
        # kept, passed on, returned
        "def f(x, works):\n    works.append(dist.all_reduce(x, async_op=True))\n    return x\n",
        "def f(x):\n    w = dist.all_reduce(x, async_op=True)\n    return x, w\n",
        "class A:\n    def f(self, x):\n        self.w = dist.all_reduce(x, async_op=True)\n"
        "        return x\n",
        "def f(x):\n    w = dist.all_reduce(x, async_op=True)\n    later(w)\n    return x + 1\n",
        "def f(x):\n    w = dist.all_reduce(x, async_op=True)\n"
        "    def done():\n        w.wait()\n        return x + 1\n    return done\n",
        "def f(x):\n    return dist.all_reduce(x, async_op=True).get_future().then(g)\n",
        # waited for in another way
        "def f(x):\n    dist.all_reduce(x, async_op=True)\n    torch.cuda.synchronize()\n"
        "    return x\n",
        "def f(x):\n    dist.all_reduce(x, async_op=True)\n    dist.barrier()\n    return x + 1\n",
        "def f(x, y):\n    w = dist.all_reduce(x, async_op=True)\n"
        "    w = dist.all_reduce(y, async_op=True)\n    w.wait()\n    return x + y\n",
        "def f(x):\n    dist.all_reduce(x, async_op=True)\n    finish()\n    return x\n\n"
        "def finish():\n    torch.cuda.current_stream().synchronize()\n",
        "def f(x):\n    w = dist.all_reduce(x, async_op=True)\n    w.block_current_stream()\n"
        "    return x\n",
        "def f(xs):\n    with dist._coalescing_manager():\n"
        "        dist.all_reduce(xs, async_op=True)\n    return xs + 1\n",
        # under the condition that it was issued under
        "def f(x, y, later):\n    w = None\n    if later:\n"
        "        w = dist.all_reduce(x, async_op=True)\n    z = y @ y\n    if not later:\n"
        "        x.div_(2)\n    if w is not None:\n        w.wait()\n    return x, z\n",
        "def f(x, later):\n    if later:\n        dist.all_reduce(x, async_op=True)\n"
        "        return\n"
        "    x.div_(2)\n",
        # views, shapes and containers
        "def f(x, kept):\n    w = dist.all_reduce(x, async_op=True)\n"
        "    y = x.view(x.shape[0], -1)\n"
        "    kept.append(x)\n    w.wait()\n    return y\n",
        "def f(x):\n    w = dist.all_reduce(x, async_op=True)\n    y = torch.empty_like(x)\n"
        "    n = len(x)\n    w.wait()\n    return y, n\n",
        # another tensor by then
        "def f(x):\n    dist.all_reduce(x, async_op=True)\n    x = torch.zeros(1)\n"
        "    return x + 1\n",
        "def f(xs):\n    for x in xs:\n        dist.all_reduce(x, async_op=True)\n"
        "    x = 0\n    return x\n",
        # not asynchronous, or not known to be
        "def f(x, later):\n    dist.all_reduce(x, async_op=later)\n    return x + 1\n",
        "def f(x):\n    dist.all_reduce(x, async_op=False)\n    return x + 1\n",
    ],
)
def test_not_read_before_the_end(body: str) -> None:
    assert reported(HEAD + body, "DST119") == []


def test_a_long_chain_of_branches() -> None:
    """Longer than the recursion limit; positions are not asked for."""
    chain = "".join(f"    elif k == {n}:\n        y = {n}\n" for n in range(1, 1500))
    source = (
        HEAD
        + "def f(x, k):\n    dist.all_reduce(x, async_op=True)\n    w = dist.all_reduce(x)\n"
        + f"    dist.reduce(x, 0)\n    if k == 0:\n        y = 0\n{chain}    return k\n"
    )
    assert reported(source, "DST118") == reported(source, "DST119") == []


@pytest.mark.parametrize(
    "rule", [rule for rule in rules().values() if "The file is a test" in rule.documentation()]
)
def test_what_a_rule_passes_over_in_a_test(rule: type[Rule]) -> None:
    for example in rule.bad:
        assert rule.code in {finding.code for finding in found_in(example.code)}
        assert rule.code not in {f.code for f in found_in(example.code, "test_script.py")}


# ---- what stands in another file of the project

UNWRAPPED = """\
from accelerate import Accelerator

import helpers


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    (model,) = helpers.without_ddp([model])
    for batch in loader:
        with accelerator.autocast():
            guess = model(batch)
        accelerator.backward(guess.mean())
"""


@pytest.mark.parametrize(
    ("helper", "rows"),
    [
        ("[m.module if isinstance(m, DDP) else m for m in models]", [12]),
        ("[m for m in models]", []),
    ],
)
def test_a_helper_of_another_file_takes_the_model_out(
    tmp_path: Path, helper: str, rows: list[int]
) -> None:
    (tmp_path / "helpers.py").write_text(f"def without_ddp(models):\n    return {helper}\n")
    found = asked(UNWRAPPED, "DST613", tmp_path / "script.py")
    assert [each.place.span.row for each in found] == rows
    taken = [r.place.span.row for each in found for r in each.related if "taken out" in r.message]
    assert taken == [9 for _ in rows]


def test_a_bare_module_that_is_wrapped_again_is_no_bypass() -> None:
    source = (
        HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "model = DDP(net)\n"
        "with autocast():\n"
        "    output = model.module(x)\n"
        "model = DDP(other)\n"
        "with autocast():\n"
        "    output = model(x)\n"
        "loss = output.mean()\n"
        "loss.backward()\n"
    )
    assert reported(source, "DST613") == []


@pytest.mark.parametrize(
    ("added", "rows"),
    [("value * n", [8]), ("float(value) * n", []), ("value.detach() * n", [])],
)
def test_a_meter_of_another_file_keeps_the_graph(
    tmp_path: Path, added: str, rows: list[int]
) -> None:
    (tmp_path / "meters.py").write_text(
        "class Meter:\n"
        "    def update(self, value, n=1):\n"
        f"        self.total += {added}\n"
        "        self.value = value\n"
    )
    source = (
        "from meters import Meter\n\n"
        "def train(model, loader):\n"
        "    losses = Meter()\n"
        "    for batch in loader:\n"
        "        loss = model(batch).mean()\n"
        "        loss.backward()\n"
        "        losses.update(loss, len(batch))\n"
    )
    found = asked(source, "DST307", tmp_path / "script.py")
    assert [each.place.span.row for each in found] == rows


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("loss = model(batch).mean()", "", True),
        ("loss = model(batch).mean() / n", "", False),
        ("loss = model(batch).mean()", "loss /= n", False),
        ("loss = model(batch).sum()", "", False),
        ("part = model(batch) / n\n    loss = part.mean()", "", False),
    ],
)
def test_a_loss_that_nothing_divides(before: str, after: str, found: bool) -> None:
    source = (
        "for index, batch in enumerate(loader, 1):\n"
        f"    {before}\n"
        f"    {after or 'pass'}\n"
        "    loss.backward()\n"
        "    if index % n == 0 or index == len(loader):\n"
        "        optimizer.step()\n"
        "        optimizer.zero_grad()\n"
    )
    told = [each for each in asked(source, "DST308", SCRIPT) if "not divided" in each.message]
    assert bool(told) is found
    assert all(each.preview for each in told)


@pytest.mark.parametrize(
    ("signature", "loss", "found"),
    [
        ("model, inputs, return_outputs=False, **kwargs", "self.kd(out) * 4", True),
        ("model, inputs, num_items_in_batch=None", "self.kd(out) * 4 / num_items_in_batch", False),
        ("model, inputs, return_outputs=False", "self.kd(out) * 4", False),
        ("model, inputs, **kwargs", "out.loss", False),
    ],
)
def test_a_loss_of_a_trainer_that_leaves_out_the_number_of_items(
    signature: str, loss: str, found: bool
) -> None:
    source = (
        "from transformers import Trainer\n\n"
        "class Own(Trainer):\n"
        f"    def compute_loss(self, {signature}):\n"
        "        out = model(**inputs)\n"
        f"        loss = {loss}\n"
        "        return loss\n"
    )
    assert bool(asked(source, "DST308", SCRIPT)) is found


# ---- what other wrappers, versions and settings make right

OLD_NAMES = """\
import torch

scaler = torch.cuda.amp.GradScaler()
with torch.cuda.amp.autocast():
    pass
"""


@pytest.mark.parametrize(
    ("asks", "rows"),
    [
        ("torch", [3, 4]),
        ("torch>=2.4", [3, 4]),
        ("torch>=2.1", [4]),
        ("torch>=1.8", []),
        ("torch==2.2.0", []),
    ],
)
def test_the_new_names_of_mixed_precision_are_there(
    tmp_path: Path, asks: str, rows: list[int]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(asks + "\n")
    found = asked(OLD_NAMES, "DST607", tmp_path / "train.py")
    assert [each.place.span.row for each in found] == rows


PREFERENCES = """\
from transformers import Trainer


class Preferences(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        {setting}

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):  # expect: DST308
        better, worse = model(**inputs)
        loss = -(better - worse).mean()
        return (loss, better) if return_outputs else loss
"""


def test_a_trainer_that_divides_all_the_same() -> None:
    check(PREFERENCES.format(setting="self.beta = 0.1"), "DST308")
    silent = PREFERENCES.format(setting="self.model_accepts_loss_kwargs = False")
    assert reported(silent, "DST308") == []


@pytest.mark.parametrize(
    ("wrap", "rows"),
    [
        ("DistributedDataParallel(net)", [8]),
        ("FullyShardedDataParallel(net)", []),
        ("deepspeed.initialize(model=net)[0]", []),
    ],
)
def test_whose_no_sync_it_is(wrap: str, rows: list[int]) -> None:
    source = (
        "import deepspeed\n"
        "from torch.nn.parallel import DistributedDataParallel\n"
        "from fairscale.nn import FullyShardedDataParallel\n\n"
        f"model = {wrap}\n"
        "first, second = model(one).mean(), model(two).mean()\n"
        "print(first, second)\n"
        "with model.no_sync():\n"
        "    first.backward()\n"
        "second.backward()\n"
    )
    assert reported(source, "DST308") == [(row, "DST308") for row in rows]


@pytest.mark.parametrize(("trainer", "preview"), [("Trainer", True), ("Fabric", False)])
def test_lightning_starts_the_other_processes_behind_a_removal(trainer: str, preview: bool) -> None:
    source = (
        f"import os\nimport shutil\nfrom lightning import {trainer}\n\n\n"
        f"def main(net):\n    runner = {trainer}(devices=4)\n"
        "    if os.path.isdir('old'):\n        shutil.rmtree('old')\n"
        "    runner.fit(net)\n\n\nmain(net)\n"
    )
    (finding,) = asked(source, "DST413", SCRIPT)
    assert finding.preview is preview


def test_a_loss_is_scaled_between_the_functions_for_forward_and_backward() -> None:
    source = (
        "def train(net, batches, scale):\n"
        "    model = DDP(net)\n"
        "    for batch in batches:\n"
        "        def ahead():\n            return model(batch).mean()\n\n"
        "        def back(loss):\n            loss.backward()\n\n"
        "        loss = ahead()\n"
        "        if scale is not None:\n            loss *= scale\n"
        "        with model.no_sync():  # expect: DST308\n            back(loss)\n"
    )
    check(
        HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n" + source, "DST308"
    )


CHOICE = (
    HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
    "def run(sharded, frozen, net):\n"
    "    if sharded:\n"
    "        net = shard(net)\n"
    "    else:\n"
    "        net = DDP(net)\n"
    "    if frozen:\n"
    "        print(net.trunk)\n"
)


def test_the_cases_of_a_test_are_of_its_own_choice(tmp_path: Path) -> None:
    for name, count in (("train.py", 1), ("test_trunk.py", 0)):
        assert len(asked(CHOICE, "DST619", tmp_path / name)) == count


PRINTED = """\
import quiet
import torch.distributed as dist

dist.init_process_group("gloo")
for batch in range(2):
    loss = model(batch).mean()
    loss.backward()
    print("step", batch)
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("import builtins\ndef setup(say):\n    builtins.print = say\n", 0),
        ("import builtins\ndef setup(say):\n    builtins.input = say\n    print(say)\n", 1),
    ],
)
def test_a_print_that_another_file_replaces(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "quiet.py").write_text(text)
    assert len(asked(PRINTED, "DST902", tmp_path / "train.py")) == count


@pytest.mark.parametrize(
    ("meeting", "rows"),
    [
        ("", [4]),
        (", init_method='env://'", [4]),
        (", init_method=f'file://{PLACE}', rank=0, world_size=2", []),
        (", init_method='tcp://10.0.0.1:2900', rank=0, world_size=2", []),
    ],
)
def test_the_summary_of_torchrun_is_for_scripts_that_it_starts(
    meeting: str, rows: list[int]
) -> None:
    source = (
        "import os\nimport torch.distributed as dist\nPLACE = os.environ['LOCAL_RANK']\n"
        f"def main():\n    dist.init_process_group('gloo'{meeting})\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    assert reported(source, "DST501") == [(row, "DST501") for row in rows]


@pytest.mark.parametrize(
    ("given", "reports"),
    [
        ("outputs.logits", True),
        ("outputs.logits.argmax(-1)", True),
        ("loss.repeat(8)", True),
        ("outputs.loss", False),
        ("loss", False),
        ("outputs.logits.mean()", False),
        ("torch.tensor([len(batch)])", False),
    ],
)
def test_one_value_of_each_rank_is_no_sample(given: str, reports: bool) -> None:
    source = (
        "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\n"
        "model, eval_loader = accelerator.prepare(model, eval_loader)\nmodel.eval()\n"
        "for batch in eval_loader:\n"
        "    outputs = model(**batch)\n    loss = outputs.loss\n"
        f"    print(accelerator.gather({given}))\n"
    )
    assert reported(source, "DST617") == ([(10, "DST617")] if reports else [])


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("scores.softmax(dim=1)", True),
        ("scores.softmax(-1)", True),
        ("self.softmax(scores)", False),
    ],
)
def test_a_softmax_of_the_file_s_own_may_be_another(call: str, found: bool) -> None:
    source = HEAD + (
        "class Loss(torch.nn.Module):\n"
        "    def softmax(self, scores):\n"
        "        return scores.softmax(1).clamp(min=1e-6)\n\n"
        "    def forward(self, scores):\n"
        f"        return -torch.log({call}).mean()\n"
    )
    assert bool(reported(source, "DST602")) is found
    assert bool(fixes(source, code="DST602")) is found


LEFTOVER = (
    "import argparse\nimport torch\n\n\n"
    "def answer(args):\n    torch.save(args.size, 'answers.pt')\n\n\n"
    "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--size', type=int)\n"
    "    parser.add_argument('--local_rank', type=int, default=-1)\n"
    "    args = parser.parse_args()\n"
)


@pytest.mark.parametrize(
    ("code", "source", "old", "new"),
    [
        pytest.param(
            "DST401",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "def save(net, several):\n    if several:\n        net = DDP(net)\n"
            "    if several:\n        torch.save(net.module.state_dict(), 'a.pt')\n        return\n"
            "    torch.save(net.state_dict(), 'a.pt')\n",
            "net.module.state_dict()",
            "1",
            id="the run that wraps has left with the module",
        ),
        pytest.param(
            "DST619",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "net = DDP(net)\nwidth = net.head.width if alone else net.module.head.width\n",
            "net.module.head.width",
            "other.module.head.width",
            id="the other arm takes the module out",
        ),
        pytest.param(
            "DST213",
            "from accelerate import Accelerator\n"
            "from torch.utils.data import DataLoader, DistributedSampler\n\n\n"
            "def make(options):\n    sampler = None\n"
            "    if options.experts > 1 and world > 1:\n"
            "        sampler = DistributedSampler(data)\n"
            "    return DataLoader(data, sampler=sampler)\n\n\n"
            "def main(options):\n    accelerator = Accelerator()\n    loader = make(options)\n"
            "    if options.experts > 1:\n        return loader\n"
            "    return accelerator.prepare(loader)\n",
            "    if options.experts > 1:\n",
            "    if options.experts > 2:\n",
            id="not prepared where it is divided",
        ),
        pytest.param(
            "DST307",
            HEAD + "from mine import Average\n\n\ndef main(model, loader):\n    seen = Average()\n"
            "    for batch in loader:\n        loss = model(batch)\n        loss.backward()\n"
            "        seen.append(loss)\n",
            "Average()",
            "[]",
            id="a running average is no list",
        ),
        pytest.param(
            "DST508",
            "import os\n\nimport torch.distributed as dist\n\n"
            "os.environ['TORCH_DISTRIBUTED_DEBUG'] = 'INFO'\ndist.set_debug_level_from_env()\n",
            "set_debug_level_from_env",
            "get_debug_level",
            id="read once more",
        ),
        pytest.param(
            "DST504",
            HEAD + "import os\n\nRANK = int(os.getenv('RANK', '0'))\n"
            "WORLD = int(os.getenv('WORLD_SIZE', '1'))\n"
            "HERE = int(os.getenv('LOCAL_WORLD_SIZE', '1'))\nassert WORLD == HERE\n"
            "torch.cuda.set_device(RANK)\n",
            "assert WORLD == HERE",
            "assert WORLD == 2",
            id="asserted to be one node",
        ),
        pytest.param(
            "DST504",
            HEAD
            + "dist.init_process_group('nccl', init_method='tcp://127.0.0.1:{}'.format(port))\n"
            "torch.cuda.set_device(dist.get_rank())\n",
            "127.0.0.1",
            "10.0.0.1",
            id="the processes meet on their own node",
        ),
        pytest.param(
            "DST511",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "dist.init_process_group('nccl')\nencoder = Encoder().to(device)\n"
            "model = DDP(Wrapper(encoder), device_ids=[rank])\n",
            "Encoder().to(device)",
            "Encoder()",
            id="around a part that has been moved",
        ),
        pytest.param(
            "DST605",
            "import torch\n\nloss = net(x)\nwith torch.autocast('cuda'):\n"
            "    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n",
            "    loss = net(x)\n    loss.backward()\n",
            id="nothing is computed in float16",
        ),
        pytest.param(
            "DST610",
            "import torch\n\ntorch.autograd.set_detect_anomaly(True)\n"
            "with torch.no_grad():\n    print(net(x))\n",
            "    print(net(x))\n",
            "    print(net(x))\nnet(x).sum().backward()\n",
            id="there is no backward pass",
        ),
        pytest.param(
            "DST610",
            "import torch\n\nif options.search:\n"
            "    torch.autograd.set_detect_anomaly(True)\ntrain(options)\n",
            "if options.search:",
            "if __name__ == '__main__':",
            id="on request, and in every run of the script",
        ),
        pytest.param(
            "DST212",
            HEAD + "import random\n\nfrom torch.utils.data import DistributedSampler, Sampler\n\n\n"
            "class Buckets(Sampler):\n    def __iter__(self):\n"
            "        random.shuffle(self.rows)\n        return iter(self.rows)\n\n\n"
            "class Shares(DistributedSampler):\n    def __iter__(self):\n"
            "        generator = torch.Generator()\n        generator.manual_seed(self.epoch)\n"
            "        return iter(torch.randperm(8, generator=generator))\n",
            "        generator = torch.Generator()\n",
            "        if self.seed:\n            random.seed(self.seed)\n"
            "        generator = torch.Generator()\n",
            id="a sampler for one process, where nothing asks for a seed",
        ),
        pytest.param(
            "DST414",
            HEAD + "import os\n\nfrom torch.utils.tensorboard import SummaryWriter\n\n"
            "dist.init_process_group('nccl')\nwriter = SummaryWriter(os.path.join(args.out, 'a'))\n"
            "if not os.path.exists(args.out):\n    os.makedirs(args.out)\n",
            "args.out, 'a'",
            "args.logs, 'a'",
            id="the writer has made the folder",
        ),
        pytest.param(
            "DST414",
            HEAD + "import os\n\ndist.init_process_group('nccl')\n"
            "os.makedirs(args.out, exist_ok=True)\n"
            "if not os.path.exists(args.out):\n    os.makedirs(args.out)\n",
            "os.makedirs(args.out, exist_ok=True)\n",
            "if args.late:\n    os.makedirs(args.out, exist_ok=True)\n",
            id="every rank has made the folder",
        ),
        pytest.param(
            "DST504",
            HEAD + "import os\n\ndist.init_process_group('nccl')\n"
            "rank = int(os.environ['LOCAL_RANK'])\n"
            "device = torch.device(f'cuda:{rank}' if torch.cuda.is_available() else 'cpu')\n",
            "int(os.environ['LOCAL_RANK'])",
            "dist.get_rank()",
            id="where there is a GPU",
        ),
        pytest.param(
            "DST504",
            HEAD + "dist.init_process_group('nccl')\n"
            "device = torch.device('gpu:{}'.format(dist.get_rank()))\n",
            "gpu:{}",
            "cuda:{}",
            id="another device than a GPU of CUDA",
        ),
        pytest.param(
            "DST502",
            HEAD + "import os\n\n\ndef join():\n    dist.init_process_group('nccl')\n"
            "    dist.barrier()\n    device = torch.device('cuda', int(os.environ['LOCAL_RANK']))\n"
            "    return dist.get_rank(), device\n",
            "return dist.get_rank(), device",
            "return torch.ones(1).to(device)",
            id="the callers set the device that they get",
        ),
        pytest.param(
            "DST502",
            HEAD + "import os\n\n\ndef join(args):\n    place = args.rank\n"
            "    dist.init_process_group('nccl', rank=place)\n"
            "    dist.all_reduce(torch.zeros(1).cuda())\n",
            "args.rank",
            "int(os.environ['LOCAL_RANK'])",
            id="the callers know the local rank",
        ),
        pytest.param(
            "DST603",
            HEAD + "def draw(scores, rows):\n    chances = torch.softmax(scores, dim=-1)\n"
            "    drawn = torch.multinomial(chances, 1)[:, 0]\n"
            "    return chances[rows, drawn].log()\n",
            "torch.multinomial(chances, 1)",
            "torch.multinomial(others, 1)",
            id="what is drawn is not impossible",
        ),
        pytest.param(
            "DST611",
            "import torch\nfrom accelerate import Accelerator, DistributedType\n\n"
            "accelerator = Accelerator()\n\n\ndef step(model, loss):\n"
            "    accelerator.backward(loss)\n    accelerator.unscale_gradients()\n"
            "    if accelerator.distributed_type == DistributedType.NO:\n"
            "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
            "accelerator.unscale_gradients()",
            "accelerator.wait_for_everyone()",
            id="unscaled, and sharded models go elsewhere",
        ),
        pytest.param(
            "DST613",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "net, teacher = DDP(net), load()\n\n\ndef step(x):\n"
            "    empty = net.module.embed(x)\n    guess = forward_of(net, x)\n"
            "    with torch.no_grad():\n        target = teacher(x, empty)\n"
            "    loss = (guess - target).mean()\n    loss.backward()\n",
            "torch.no_grad()",
            "torch.autocast('cuda')",
            id="it serves for a target without a gradient",
        ),
        pytest.param(
            "DST617",
            "from accelerate import Accelerator\nfrom timm.utils import accuracy\n\n"
            "accelerator = Accelerator()\nmodel.eval()\nfor x, y in eval_loader:\n"
            "    best, some = accuracy(model(x), y, topk=(1, 5))\n"
            "    print(accelerator.gather(best).mean())\n",
            "timm.utils",
            "mine",
            id="a metric of the batch",
        ),
        pytest.param(
            "DST502",
            HEAD + "import os\n\n\ndef join(args):\n"
            "    rank, local = int(os.environ['RANK']), int(os.environ['LOCAL_RANK'])\n"
            "    if args.device == 'cuda':\n        dist.init_process_group('nccl')\n"
            "    return rank\n",
            "args.device == 'cuda'",
            "args.cuda('cuda')",
            id="a comparison puts nothing on a GPU",
        ),
        pytest.param(
            "DST502",
            HEAD + "import os\n\n\ndef join():\n    local_rank = int(os.environ['LOCAL_RANK'])\n"
            "    dist.init_process_group('nccl')\n    torch.ones(1).cuda(local_rank)\n"
            "    return dist.get_rank(), local_rank\n",
            "dist.get_rank(), local_rank",
            "dist.get_rank()",
            id="the caller is given the number of the GPU",
        ),
        pytest.param(
            "DST502",
            HEAD + "import ray\n\n\n@ray.remote(num_gpus=1)\nclass Worker:\n"
            "    def run(self):\n        dist.init_process_group('nccl')\n"
            "        dist.all_reduce(torch.ones(1, device='cuda'))\n",
            "ray",
            "mine",
            id="Ray shows each actor its GPU",
        ),
        pytest.param(
            "DST509",
            HEAD + "from torch.distributed import GroupMember\n\n"
            "dist.init_process_group('gloo')\ngroup = GroupMember.WORLD\n"
            "if group is None:\n    dist.init_process_group('gloo')\n",
            "GroupMember.WORLD",
            "make()",
            id="only where there is no group",
        ),
        pytest.param(
            "DST510",
            HEAD + "def export(path, weights):\n    is_writer = dist.get_rank() == 0\n    try:\n"
            "        if is_writer:\n            write(path, weights)\n"
            "    finally:\n        dist.barrier()\n",
            "dist.get_rank() == 0",
            "path.exists()",
            id="the others are in the barrier already",
        ),
        pytest.param(
            "DST611",
            "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\n"
            "if use_accelerate:\n    accelerator.backward(loss)\nelse:\n    loss.backward()\n"
            "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\noptimizer.step()\n",
            "else:\n",
            "if True:\n",
            id="the other arm does the backward pass",
        ),
        pytest.param(
            "DST611",
            "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\n"
            "accelerator.backward(loss)\nif config.fsdp_enable:\n"
            "    accelerator.unscale_gradients()\n"
            "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\noptimizer.step()\n",
            "    accelerator.unscale_gradients()\n",
            "",
            id="unscaled, and FSDP is asked for",
        ),
        pytest.param(
            "DST615",
            "from accelerate import Accelerator\n\naccelerator = Accelerator()\n"
            "for batch in loader:\n    with accelerator.accumulate(net):\n"
            "        accelerator.backward(net(batch))\n"
            "        clips = accelerator.sync_gradients and limit > 0\n"
            "        if clips:\n            accelerator.clip_grad_norm_(net.parameters(), limit)\n"
            "        optimizer.step()\n",
            "accelerator.sync_gradients and ",
            "",
            id="the condition has a name",
        ),
        pytest.param(
            "DST619",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"
            "class Strategy:\n    def setup(self):\n        if self.saves_memory:\n"
            "            self.net.backbone.save_memory()\n        self.net = DDP(self.net)\n",
            "        if self.saves_memory:\n            self.net.backbone.save_memory()\n"
            "        self.net = DDP(self.net)\n",
            "        self.net = DDP(self.net)\n        self.net.backbone.save_memory()\n",
            id="wrapped further down in the function",
        ),
        pytest.param(
            "DST619",
            "from accelerate import Accelerator\n\n\nclass Trainer:\n"
            "    def __init__(self):\n        self.accelerator = Accelerator()\n"
            "        self.optimizer = Adam(self.model.generator.parameters())\n"
            "    def prepare(self):\n        self.model, self.adam = self.accelerator.prepare(\n"
            "            self.model.generator, self.optimizer)\n",
            "            self.model.generator, ",
            "            self.model, ",
            id="what the wrap takes from the object",
        ),
        pytest.param(
            "DST619",
            ACCELERATOR + "model = accelerator.prepare(model)\n"
            "if accelerator.distributed_type == 'TPU':\n    model.tie_weights()\n",
            "accelerator.distributed_type == 'TPU'",
            "tied",
            id="not as it is wrapped under DDP",
        ),
        pytest.param(
            "DST619",
            ACCELERATOR + "for part in nets:\n    nets[part].to('cuda')\n"
            "nets, adam = accelerator.prepare(nets, adam)\nprint(nets.critic)\n",
            "nets[part]",
            "part",
            id="a dictionary of models",
        ),
        pytest.param(
            "DST619",
            ACCELERATOR + "nets['critic'].to('cuda')\n"
            "nets, adam = accelerator.prepare(nets, adam)\nprint(nets.critic)\n",
            "nets['critic']",
            "nets[0]",
            id="a dictionary of models, by a name",
        ),
        pytest.param(
            "DST406",
            "import torch\nimport torch.distributed as dist\n\n\n"
            "def save(state, path, is_sharded):\n"
            "    if dist.get_rank() == 0:\n        print(path)\n    if is_sharded:\n"
            "        dist.barrier()\n    with open(path, 'wb') as file:\n"
            "        torch.save(state, file)\n    dist.barrier()\n",
            "is_sharded",
            "is_safe",
            id="each process may save its own shard",
        ),
        pytest.param(
            "DST406",
            LEFTOVER + "    answer(args)\n",
            "    answer(args)\n",
            "    join(args)\n    answer(args)\n",
            id="an option for the rank that nobody reads",
        ),
        pytest.param(
            "DST406",
            LEFTOVER + "    answer(args)\n",
            "    answer(args)\n",
            "    print(args.local_rank)\n    answer(args)\n",
            id="an option for the rank that is read",
        ),
        pytest.param(
            "DST415",
            "import torch.distributed as dist\nfrom filelock import FileLock\n"
            "from torchvision.datasets import MNIST\n\n"
            "dist.init_process_group('gloo')\nlock = FileLock('data.lock')\n"
            "with lock:\n    data = MNIST('data', download=True)\n",
            "with lock:",
            "with timer:",
            id="a lock in a file that has a name",
        ),
        pytest.param(
            "DST415",
            "import threading\nimport torch.distributed as dist\nfrom filelock import FileLock\n"
            "from torchvision.datasets import MNIST\n\n"
            "dist.init_process_group('gloo')\n"
            "with FileLock('data.lock'):\n    data = MNIST('data', download=True)\n",
            "with FileLock('data.lock'):",
            "with threading.Lock():",
            id="a lock in a file, not one of threads",
        ),
        pytest.param(
            "DST513",
            "import torch\nimport torch.distributed as dist\n\nprint(dist.get_world_size())\n"
            "dist.barrier()\nnodes = total_world_size // torch.cuda.device_count()\n",
            "total_world_size",
            "total_batch_size",
            id="the nodes of a world by another name",
        ),
        pytest.param(
            "DST701",
            "import torch\n\ntorch._dynamo.config.capture_scalar_outputs = True\n\n\n"
            "@torch.compile\ndef split(x, sizes):\n    return x.split(sizes.tolist())\n",
            "capture_scalar_outputs",
            "verbose",
            id="numbers stay in the graph",
        ),
        pytest.param(
            "DST206",
            "from torch.utils.data import DataLoader\n\n\nclass Settings:\n"
            "    def __init__(self):\n        self.workers = 0\n\n    def loader(self, data):\n"
            "        return DataLoader(\n            data, num_workers=self.workers, "
            "persistent_workers=True\n        )\n\n\nmake = print\n",
            "make = print",
            "make = Settings().loader",
            id="others set the number of workers",
        ),
        pytest.param(
            "DST404",
            HEAD + "dist.init_process_group('nccl')\ntorch.cuda.set_device(number)\n"
            "states = torch.load('generators.pt')\ntorch.cuda.set_rng_state(states[0])\n"
            "torch.set_rng_state(states[1])\n",
            "states[0]",
            "states['cuda']",
            id="nothing but the states of generators",
        ),
        pytest.param(
            "DST414",
            HEAD + "import os\n\n\ndef made(folder='out'):\n    if not os.path.exists(folder):\n"
            "        os.makedirs(folder)\n\n\ndef main():\n    dist.init_process_group('nccl')\n"
            "    if dist.get_rank() == 0:\n        made()\n    dist.barrier()\n    made()\n\n\n"
            "main()\n",
            "    dist.barrier()\n",
            "",
            id="rank 0 has made the folder, and the others waited",
        ),
        pytest.param(
            "DST404",
            HEAD + "dist.init_process_group('nccl')\ndevice = torch.device('cuda', number)\n\n\n"
            "def main(net, found):\n    net.load_state_dict(torch.load('a.pt'))\n"
            "    found = found.cpu()\n    torch.save(found, 'a.pt')\n\n\nmain(net, found)\n",
            ".cpu()",
            ".cpu().numpy()",
            id="what is saved is on the CPU",
        ),
        pytest.param(
            "DST404",
            HEAD + "dist.init_process_group('nccl')\nnet.cuda(args.gpu)\n"
            "if args.gpu is None:\n    net.load_state_dict(torch.load('a.pt'))\n",
            "is None",
            "is not None",
            id="one process that uses all GPUs loads",
        ),
        pytest.param(
            "DST401",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "net = DDP(net)\nload_weights(net)\ntorch.save(net.state_dict(), 'a.pt')\n",
            "load_weights",
            "iterate_loader",
            id="a function loads into the wrapper again",
        ),
        pytest.param(
            "DST401",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "net = DDP(net)\nload_weights(net)\ntorch.save(net.state_dict(), 'a.pt')\n",
            "load_weights(net)",
            "load_weights(net.module if many else net)",
            id="a function loads into the wrapper, and not into what is in it",
        ),
        pytest.param(
            "DST414",
            HEAD + "import os\n\ndist.init_process_group('nccl')\n"
            "folder = os.path.join(options.out, 'logs')\nif not os.path.isdir(folder):\n"
            "    os.makedirs(folder, exist_ok=True)\n"
            "if not os.path.exists(options.out):\n    os.makedirs(options.out)\n",
            "if not os.path.isdir(folder):",
            "if wanted:",
            id="a folder in it is there",
        ),
        pytest.param(
            "DST510",
            HEAD + "dist.init_process_group('gloo')\nfor item in range(4):\n    try:\n"
            "        convert(item)\n    except ValueError as error:\n        print(error)\n"
            "        dist.barrier()\n        raise\ndist.barrier()\n",
            "        raise\n",
            "        continue\n",
            id="the others come to a barrier as well",
        ),
        pytest.param(
            "DST510",
            HEAD + "dist.init_process_group('gloo')\ntry:\n    convert(1)\n"
            "except ValueError as error:\n    dist.barrier()\n    raise\n"
            "print('converted')\ndist.barrier()\n",
            "print('converted')",
            "dist.all_gather_object(found, item)",
            id="no other collective in front of that barrier",
        ),
        pytest.param(
            "DST510",
            HEAD + "dist.init_process_group('gloo')\n\n\ndef convert(item):\n    print(item)\n\n\n"
            "try:\n    convert(1)\nexcept ValueError:\n    dist.barrier()\n    raise\n"
            "dist.barrier()\n",
            "    print(item)",
            "    dist.all_reduce(item)",
            id="nor in a function that is tried",
        ),
        pytest.param(
            "DST601",
            "import torch\nimport torch.nn.functional as F\n\n\ndef loss(a, b, t=0.2):\n"
            "    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)\n"
            "    near = torch.exp(torch.mm(a, b.t()) / t)\n"
            "    return near / near.sum(1, keepdim=True)\n",
            "    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)\n",
            "",
            id="cosines by a temperature",
        ),
        pytest.param(
            "DST614",
            HEAD + "def warm_up(model, batch):\n    for weight in model.parameters():\n"
            "        weight.requires_grad = False\n"
            "    for weight in model.module.head.parameters():\n"
            "        weight.requires_grad = True\n    model(batch).sum().backward()\n",
            "    for weight in model.parameters():\n        weight.requires_grad = False\n",
            "",
            id="thawed again after the whole model was frozen",
        ),
        pytest.param(
            "DST614",
            HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
            "net = make()\nmodel = DDP(net)\nfor weight in model.parameters():\n"
            "    weight.requires_grad = False\nfor weight in model.module.head.parameters():\n"
            "    weight.requires_grad = True\n",
            "for weight in model.parameters():",
            "for weight in other.parameters():",
            id="thawed again where it was wrapped",
        ),
    ],
)
def test_what_makes_it_harmless(code: str, source: str, old: str, new: str) -> None:
    assert reported(source, code) == []
    assert old in source
    assert reported(source.replace(old, new), code), "it says nothing in any case"


STEPS = (
    HEAD + "from torch.utils.data import DataLoader, DistributedSampler\n\n"
    "order = DistributedSampler(data)\nloader = DataLoader(data, sampler=order)\n"
    "turns = iter(loader)\nfor step in range(900):\n    try:\n        batch = next(turns)\n"
    "    except StopIteration:\n        turns = iter(loader)\n        batch = next(turns)\n"
    "    train(batch)\n"
)
EPOCHS = STEPS.replace("    try:\n        batch = next(turns)\n", "").replace(
    "    except StopIteration:\n        turns = iter(loader)\n        batch",
    "    turns = iter(loader)\n    batch",
)


@pytest.mark.parametrize(
    ("source", "said", "related"),
    [
        (STEPS, "each pass that the loop in line 9 begins", "the loop over steps"),
        (EPOCHS, "each turn of the loop in line 9 has", "the loop over epochs"),
    ],
)
def test_a_loop_over_steps_is_not_called_one_over_epochs(
    source: str, said: str, related: str
) -> None:
    (finding,) = asked(source, "DST203", SCRIPT)
    assert said in finding.message
    assert finding.related[0].message == related


def test_a_script_that_tells_its_launcher_the_port_is_for_preview() -> None:
    source = (
        "import os\nimport subprocess\n\nos.environ['MASTER_PORT'] = '29504'\n"
        "if 'LOCAL_RANK' not in os.environ:\n"
        "    subprocess.run(['torchrun', '--master_port', '29504', __file__])\n"
    )
    assert [found.preview for found in asked(source, "DST506", SCRIPT)] == [True]
    unknown = source.replace("'--master_port', '29504', ", "")
    assert [found.preview for found in asked(unknown, "DST506", SCRIPT)] == [False]


def test_a_script_beside_it_starts_the_processes(tmp_path: Path) -> None:
    """By a spawn on one node; it is not asked where the file joins the group itself."""
    helper = tmp_path / "restore.py"
    source = HEAD + "def restore():\n    return torch.device('cuda', dist.get_rank())\n"
    launcher = tmp_path / "train.py"
    for text, count in [
        ("import torch.multiprocessing as mp\nfrom restore import restore\nmp.spawn(main)\n", 0),
        ("import torch.multiprocessing as mp\nmp.spawn(main)\n", 1),
        ("from restore import restore\nrestore()\n", 1),
    ]:
        launcher.write_text(text)
        assert len(asked(source, "DST504", helper)) == count
    launcher.write_text("import torch.multiprocessing as mp\nimport restore\nmp.spawn(main)\n")
    assert asked(source, "DST504", helper) == []
    joins = source.replace("    return", "    dist.init_process_group('nccl')\n    return")
    assert len(asked(joins, "DST504", helper)) == 1
    run = "import subprocess\nsubprocess.run(['torchrun', '--nproc_per_node=2', 'restore.py'])\n"
    launcher.write_text(run)
    assert asked(joins, "DST504", helper) == []
    launcher.write_text(run.replace("'--nproc", "'--nnodes=2', '--nproc"))
    assert len(asked(joins, "DST504", helper)) == 1
    launcher.write_text(run.replace("'--nproc", "'--nnodes=1', '--nproc"))
    assert asked(joins, "DST504", helper) == []


def test_a_script_among_the_tests_runs_on_one_node(tmp_path: Path) -> None:
    source = HEAD + "dist.init_process_group('nccl')\ntorch.cuda.set_device(dist.get_rank())\n"
    root = tmp_path / "tests"  # of this name is the repository itself, perhaps
    folder = root / "tests" / "launched"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    assert asked(source, "DST504", folder / "run.py") == []
    assert len(asked(source, "DST504", root / "run.py")) == 1


def test_a_configuration_for_one_process_binds_no_device(tmp_path: Path) -> None:
    source = HEAD + "from settings import args\n\n"
    source += "dist.init_process_group('nccl', world_size=args.world_size, rank=0)\nnet.cuda()\n"
    settings = tmp_path / "settings.py"
    for text, count in [
        ("args = Namespace(world_size=1, rank=0)\n", 0),
        ("args = Namespace(world_size=2, rank=0)\n", 1),
        ("args = parse()\n", 1),
    ]:
        settings.write_text(text)
        assert len(asked(source, "DST502", tmp_path / "convert.py")) == count
        here = source.replace("from settings import args\n", f"from argparse import *\n{text}")
        assert len(reported(here, "DST502")) == count


def test_the_base_of_a_class_starts_processes(tmp_path: Path) -> None:
    """They read the variable when they import torch."""
    source = "import os\n\nimport torch\nfrom harness import Case\n\n\nclass Sharding(Case):\n"
    source += "    def run_all(self):\n        os.environ['TORCH_DISTRIBUTED_DEBUG'] = 'DETAIL'\n"
    harness = tmp_path / "harness.py"
    start = "import multiprocessing\n\n\nclass Case:\n    def start(self, main):\n"
    for text, count in [("multiprocessing.Process(target=main).start()", 0), ("main()", 1)]:
        harness.write_text(f"{start}        {text}\n")
        assert len(asked(source, "DST508", tmp_path / "sharding.py")) == count


def test_a_gpu_by_its_number_leaves_the_first_one_to_what_has_none() -> None:
    source = HEAD + "from torch.multiprocessing import spawn\n\n\ndef run(rank, world):\n"
    source += "    dist.init_process_group('nccl', rank=rank, world_size=world)\n"
    source += "    net.to(rank)\n    dist.barrier()\n\n\nspawn(run)\n"
    (found,) = asked(source, "DST502", SCRIPT)
    assert found.explanation is not None
    assert "barrier()" in found.explanation.effect
    (found,) = asked(source.replace("to(rank)", "cuda()"), "DST502", SCRIPT)
    assert found.explanation is not None
    assert "duplicate" in found.explanation.effect


def test_a_gpu_by_its_number_may_be_written_in_two_parts() -> None:
    source = HEAD + "from torch.multiprocessing import spawn\n\n\ndef run(rank, world):\n"
    source += "    dist.init_process_group('nccl', rank=rank, world_size=world)\n"
    source += "    device = torch.device('cuda', rank)\n\n\nspawn(run)\n"
    (found,) = asked(source, "DST502", SCRIPT)
    assert found.explanation is not None
    assert "barrier()" in found.explanation.effect


def test_a_script_beside_it_loads_into_a_wrapper(tmp_path: Path) -> None:
    source = HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
    source += "net = DDP(net)\ntorch.save(net.state_dict(), 'final.pth')\n"
    other = tmp_path / "evaluate.py"
    for text, count in [
        ("net = DDP(net)\nnet.load_state_dict(torch.load('final.pth'))\n", 0),
        ("net = DDP(net)\nnet.load_state_dict(torch.load('best.pth'))\n", 1),
        ("net.load_state_dict(torch.load('final.pth'))\nnet = DDP(net)\n", 1),
    ]:
        other.write_text(text)
        assert len(asked(source, "DST401", tmp_path / "train.py")) == count


def test_a_main_process_that_leaves_a_training_loop_may_have_told_the_others() -> None:
    source = HEAD + "from torch.nn.parallel import DistributedDataParallel as DDP\n\n"
    source += "def train(model, batches, meter, has_data, stop):\n    for batch in batches:\n"
    source += "        dist.all_reduce(has_data)\n        model(batch).backward()\n"
    branch = "        if dist.get_rank() == 0:\n            {}if meter.is_bad:\n"
    leave = "                {}return False\n"
    told = "        dist.all_reduce({})\n"
    for text, count in [
        (branch.format("") + leave.format(""), 1),
        (branch.format("") + leave.format("stop.fill_(1); ") + told.format("loss"), 1),
        (branch.format("") + leave.format("stop.fill_(1); ") + told.format("stop"), 0),
        (branch.format("") + leave.format("stop = 1; ") + told.format("stop"), 0),
        (branch.format("") + leave.format("") + told.format("meter.loss"), 0),
        (branch.format("") + leave.format("dist.broadcast(stop, 0); "), 0),
        (branch.format("") + leave.format("") + "        if meter.is_bad:\n            break\n", 0),
    ]:
        assert len(asked(source + text, "DST104", SCRIPT)) == count, text


def test_a_file_of_tests_may_look_for_anomalies(tmp_path: Path) -> None:
    source = "import torch\n\nwith torch.autograd.set_detect_anomaly(True):\n    f(x).backward()\n"
    assert not asked(source, "DST610", tmp_path / "test_gradients.py")
    assert asked(source, "DST610", tmp_path / "gradients.py")


@pytest.mark.parametrize(
    ("work", "severity"),
    [
        ("convert(1)", "warning"),
        ("Worker().convert(1)", "warning"),
        ("elsewhere(1)", "info"),
        ("elsewhere(1)\n    dist.barrier()", "warning"),
        ("dist.barrier()\n    elsewhere(1)", "info"),
    ],
)
def test_a_barrier_in_a_finally_is_a_warning_where_others_are_seen_to_wait(
    work: str, severity: str
) -> None:
    source = (
        "import torch\nimport torch.distributed as dist\nfrom project import elsewhere\n\n\n"
        "def convert(item):\n    dist.all_reduce(torch.ones(1))\n\n\n"
        "class Worker:\n    def convert(self, item):\n        convert(item)\n\n\n"
        f"dist.init_process_group('gloo')\ntry:\n    {work}\nfinally:\n    dist.barrier()\n"
    )
    found = asked(source, "DST510", SCRIPT)
    assert [each.severity.value for each in found] == [severity]


@pytest.mark.parametrize(("device", "rows"), [("cuda", [6]), ("mps", [])])
def test_a_copy_to_memory_that_the_host_shares_takes_no_time(device: str, rows: list[int]) -> None:
    source = (
        "import torch\nimport torch.distributed as dist\nfrom torch.utils.data import DataLoader\n"
        "loader = DataLoader(data, pin_memory=True, num_workers=2)\nfor batch in loader:\n"
        f"    batch = batch.to('{device}')\n"
    )
    assert [row for row, _ in reported(source, "DST208")] == rows
