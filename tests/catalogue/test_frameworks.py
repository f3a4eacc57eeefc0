"""The shipped files: they follow the schema, refer to what exists, and are read when needed."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from distlint.catalogue import catalogue as module
from distlint.catalogue.catalogue import Catalogue, frameworks
from distlint.catalogue.entries import KINDS, TAGS, Row
from distlint.catalogue.schema import TABLES, parse_row

ALL_ROOTS = [root for roots in frameworks().values() for root in roots]


@pytest.fixture(scope="module")
def everything() -> Catalogue:
    return Catalogue.load(ALL_ROOTS)


def shipped_rows(name: str) -> Iterator[tuple[str, Row]]:
    content = module._read(module.FRAMEWORKS / f"{name}.toml")
    for table in TABLES:
        rows = content.get(table, [])
        assert isinstance(rows, list)
        for row in rows:
            for record, _ in parse_row(table, row, name, name):
                yield table, record


@pytest.mark.parametrize("name", frameworks())
def test_a_shipped_file_follows_the_schema_and_says_each_thing_once(name: str) -> None:
    seen = Counter(
        (table, record.name, getattr(record, "form", "") in ("env", "name"))
        for table, record in shipped_rows(name)
    )
    assert seen
    assert [key for key, count in seen.items() if count > 1] == []
    assert name in Catalogue.load(frameworks()[name]).files


def test_the_files_hold_about_what_they_should(everything: Catalogue) -> None:
    counts = Counter(
        table for name in frameworks() for table, _ in shipped_rows(name) if table in TABLES
    )
    least = {
        "collective": 400,
        "rank": 120,
        "uniform": 100,
        "local": 100,
        "class": 80,
        "returns": 70,
        "guard": 15,
        "first": 8,
        "group": 15,
        "seed": 8,
        "agreement": 1,
        "gradients": 4,
        "neutral": 120,
        "score": 40,
        "write": 70,
        "retired": 35,
    }
    assert least.keys() == TABLES.keys()
    assert {table: counts[table] for table, n in least.items() if counts[table] < n} == {}


@pytest.mark.parametrize(
    ("name", "at_least"),
    [("torch", 100), ("accelerate", 45), ("deepspeed", 40), ("lightning", 30), ("horovod", 30)],
)
def test_the_big_frameworks_are_not_empty(name: str, at_least: int) -> None:
    assert sum(table == "collective" for table, _ in shipped_rows(name)) >= at_least


def test_classes_that_rows_refer_to_exist(everything: Catalogue) -> None:
    referred: set[str] = set()
    for entry in everything.entries():
        if entry.cls:
            referred.update(entry.cls.bases)
            referred.update((entry.cls.attributes or {}).values())
            referred.update((entry.cls.method_params or {}).values())
        if entry.returns:
            if isinstance(entry.returns.kinds, tuple):
                referred.update(entry.returns.kinds)
            elif entry.returns.kinds not in ("same", "self", "inner", "parts", "chain"):
                referred.add(entry.returns.kinds)
            for source, target in (entry.returns.converts or {}).items():
                referred.update((source, target))
    referred.discard("")
    assert len(referred) > 30
    assert {name for name in referred if not everything.is_class(name)} == set()


def test_values_that_rows_are_like_exist(everything: Catalogue) -> None:
    likes = [name for e in everything.entries() if e.returns for name in e.returns.like]
    assert likes
    for name in likes:
        entry = everything.lookup(name)
        assert entry is not None, name
        assert entry.rank or entry.uniform, name


@pytest.mark.parametrize("name", frameworks())
def test_a_file_needs_no_other_than_it_says(name: str) -> None:
    """Loaded for its own roots alone, every class that it refers to is there."""
    catalogue = Catalogue.load(frameworks()[name])
    for _, record in shipped_rows(name):
        for base in getattr(record, "bases", ()):
            assert catalogue.is_class(base), f"{record.name}: {base}"


def test_methods_belong_to_classes_that_are_followed(everything: Catalogue) -> None:
    """Otherwise no object could ever be known to have them."""
    only_named = (
        "torch.Tensor",
        "torch.distributed.GroupMember",
        "transformers.AutoModel",
        "mpi4py.MPI.COMM_WORLD",  # an object
        "PIL.Image",  # a module
    )
    orphans = [
        entry.name
        for entry in everything.entries()
        if (owner := entry.name.rpartition(".")[0]).rpartition(".")[2][:1].isupper()
        and not everything.is_class(owner)
        and not owner.startswith(only_named)
    ]
    assert orphans == []


def test_no_alias_hides_an_entry(everything: Catalogue) -> None:
    for entry in everything.entries():
        assert everything.canonical(entry.name) == entry.name
        found = everything.lookup(entry.name)
        assert found is not None
        assert found.name == entry.name


def test_every_kind_but_the_reserved_ones_and_every_tag_is_used(everything: Catalogue) -> None:
    collectives = [entry.collective for entry in everything.entries() if entry.collective]
    assert set(KINDS) - {c.kind for c in collectives} == {"wait"}
    used = {tag for c in collectives for tag in c.only_under}
    proven = {tag for e in everything.entries() if e.cls for tag in e.cls.tags}
    implied = {tag for tags in module.IMPLIED_TAGS.values() for tag in tags}
    assert set(TAGS) - used - proven - implied == set()


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("accelerate.Accelerator.save_state", "fsdp"),
        ("accelerate.Accelerator.get_state_dict", "zero3"),
        ("accelerate.Accelerator.save_model", "zero3"),
        ("accelerate.Accelerator.clip_grad_norm_", "fsdp"),
        ("transformers.Trainer.save_model", "deepspeed"),
        ("torch.nn.parallel.DistributedDataParallel.__call__", "buffers"),
        ("torchmetrics.Metric.__call__", "dist_sync_on_step"),
        ("deepspeed.DeepSpeedEngine.__call__", "zero3"),
        ("deepspeed.DeepSpeedEngine.save_16bit_model", "zero3"),
        ("torch.distributed.destroy_process_group", "nccl"),
        ("accelerate.data_loader.DataLoaderShard.__iter__", "shuffle"),
    ],
)
def test_conditional_collectives_carry_their_condition(
    everything: Catalogue, name: str, tag: str
) -> None:
    entry = everything.lookup(name)
    assert entry is not None
    assert entry.collective is not None
    assert tag in entry.collective.only_under


@pytest.mark.parametrize(
    "name",
    [
        "torch.save",
        "torch.Tensor.item",
        "torch.nn.utils.clip_grad_norm_",
        "torch.optim.Optimizer.step",
        "torch.amp.GradScaler.step",
        "torch.utils.data.DataLoader.__iter__",
        "torch.nn.parallel.DistributedDataParallel.state_dict",
        "torch.distributed.fsdp.FSDPModule.state_dict",
        "torch.distributed.send",
        "transformers.PreTrainedModel.from_pretrained",
        "transformers.PreTrainedModel.save_pretrained",
        "transformers.Trainer.log_metrics",
        "accelerate.Accelerator.print",
        "accelerate.Accelerator.unwrap_model",
        "accelerate.Accelerator.set_trigger",
        "accelerate.PartialState",
        "asyncio.gather",
    ],
)
def test_what_every_correct_script_guards_is_no_collective(
    everything: Catalogue, name: str
) -> None:
    entry = everything.lookup(name)
    assert entry is None or entry.collective is None


def test_only_the_files_that_are_called_for_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = module._read

    def recording(path: Path) -> object:
        read.append(path.stem)
        return original(path)

    module._shipped.cache_clear()
    monkeypatch.setattr(module, "_read", recording)
    Catalogue.load({"os"})
    assert sorted(read) == ["python", "torch"]
    catalogue = Catalogue.load({"trl.trainer"})
    assert sorted(read) == ["accelerate", "python", "torch", "transformers", "trl"]
    assert set(catalogue.files) == set(read)
    module._shipped.cache_clear()


def test_heads_are_found_without_parsing_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_read", None)
    frameworks.cache_clear()
    assert frameworks()["lightning"][:2] == ("lightning", "pytorch_lightning")
    assert len(frameworks()) >= 20


def test_torch_is_read_quickly() -> None:
    """The budget is 15 ms of CPU; three times that leaves room for a busy machine."""

    def seconds() -> float:
        module._shipped.cache_clear()
        start = time.process_time()
        Catalogue.load({"torch"})
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.045


def test_a_catalogue_can_be_sent_to_a_worker(everything: Catalogue) -> None:
    name = "torch.distributed.all_reduce"
    assert pickle.loads(pickle.dumps(everything)).lookup(name) == everything.lookup(name)
