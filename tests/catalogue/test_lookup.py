"""Finding what the catalogue knows: aliases, members, families, names."""

from __future__ import annotations

import pytest

from distlint.catalogue.catalogue import Catalogue, Entry


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load(
        {"accelerate", "lightning", "torchmetrics", "deepspeed", "megatron", "mmengine"}
    )


def found(entry: Entry | None) -> Entry:
    assert entry is not None
    return entry


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("torch.distributed.all_reduce", "torch.distributed.all_reduce"),
        ("torch.distributed.distributed_c10d.all_reduce", "torch.distributed.all_reduce"),
        ("torch.distributed.device_mesh.init_device_mesh", "torch.distributed.init_device_mesh"),
        ("torch.distributed.tensor.DeviceMesh", "torch.distributed.DeviceMesh"),
        ("torch.distributed.nn.functional.all_gather", "torch.distributed.nn.all_gather"),
        (
            "torch.nn.parallel.distributed.DistributedDataParallel",
            "torch.nn.parallel.DistributedDataParallel",
        ),
        ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler"),
        ("accelerate.accelerator.Accelerator.gather", "accelerate.Accelerator.gather"),
        ("accelerate.utils.operations.gather_object", "accelerate.utils.gather_object"),
        ("deepspeed.init_distributed", "deepspeed.comm.init_distributed"),
        (
            "megatron.core.mpu.get_data_parallel_rank",
            "megatron.core.parallel_state.get_data_parallel_rank",
        ),
        ("mmcv.runner.get_dist_info", "mmengine.dist.get_dist_info"),
    ],
)
def test_other_spellings_lead_to_the_same_entry(
    catalogue: Catalogue, spelling: str, name: str
) -> None:
    assert found(catalogue.lookup(spelling)).name == name


@pytest.mark.parametrize(
    "spelling",
    [
        "pytorch_lightning.utilities.rank_zero_only",
        "pytorch_lightning.utilities.rank_zero.rank_zero_only",
        "pytorch_lightning.utilities.distributed.rank_zero_only",
        "lightning.pytorch.utilities.rank_zero_only",
        "lightning.fabric.utilities.rank_zero.rank_zero_only",
        "lightning_fabric.utilities.rank_zero_only",
        "lightning_utilities.core.rank_zero.rank_zero_only",
    ],
)
def test_rank_zero_only_is_a_guard_wherever_it_comes_from(
    catalogue: Catalogue, spelling: str
) -> None:
    guard = found(catalogue.lookup(spelling)).guard
    assert guard is not None
    assert guard.runs_on == "main"
    assert not guard.communicates


@pytest.mark.parametrize("dotted", ["torch", "torch.distributed", "mine.all_reduce", "", "x"])
def test_unknown_names_are_unknown(catalogue: Catalogue, dotted: str) -> None:
    assert catalogue.lookup(dotted) is None
    assert not catalogue.is_class(dotted)


def test_a_collective_says_where_its_arguments_are(catalogue: Catalogue) -> None:
    reduce = found(catalogue.lookup("torch.distributed.all_reduce")).collective
    assert reduce is not None
    assert (reduce.kind, reduce.group, reduce.agree) == ("all_reduce", "group", ("op",))
    assert (reduce.async_, reduce.result, reduce.result_param) == (
        "async_op",
        "uniform_in_place",
        "tensor",
    )
    assert [reduce.position(p) for p in ("tensor", "group", "missing")] == [0, 2, None]
    save = found(catalogue.lookup("torch.distributed.checkpoint.save")).collective
    assert save is not None
    assert save.position("state_dict") == 0
    assert save.position("process_group") is None, "keyword-only"
    assert [(a.param, a.value) for a in save.not_with] == [("no_dist", True)]


def test_one_name_may_have_several_facets(catalogue: Catalogue) -> None:
    wrapper = found(catalogue.lookup("torch.nn.parallel.DistributedDataParallel"))
    assert wrapper.collective is not None
    assert wrapper.collective.form == "construct"
    assert wrapper.cls is not None
    assert wrapper.cls.unwraps == "module"
    assert wrapper.cls.backward
    group = found(catalogue.lookup("torch.distributed.new_group"))
    assert group.collective is not None
    assert group.collective.group is None, "made on the world"
    assert group.group is not None
    assert group.group.ranks == "ranks"
    assert group.returns is not None


@pytest.mark.parametrize(
    ("cls", "member", "name"),
    [
        (
            "accelerate.state.AcceleratorState",
            "is_main_process",
            "accelerate.PartialState.is_main_process",
        ),
        (
            "torchmetrics.classification.MulticlassAccuracy",
            "compute",
            "torchmetrics.Metric.compute",
        ),
        (
            "pytorch_lightning.strategies.DDPStrategy",
            "barrier",
            "lightning.pytorch.strategies.Strategy.barrier",
        ),
        (
            "deepspeed.PipelineEngine",
            "save_checkpoint",
            "deepspeed.DeepSpeedEngine.save_checkpoint",
        ),
        ("torch.nn.parallel.DistributedDataParallel", "to", "torch.nn.Module.to"),
        ("torch.nn.parallel.DistributedDataParallel", "eval", "torch.nn.Module.eval"),
    ],
)
def test_members_come_from_bases(catalogue: Catalogue, cls: str, member: str, name: str) -> None:
    assert found(catalogue.member(cls, member)).name == name
    assert found(catalogue.lookup(f"{cls}.{member}")).name == name


def test_special_members(catalogue: Catalogue) -> None:
    ddp = "torch.nn.parallel.DistributedDataParallel"
    forward = found(catalogue.member(ddp, "__call__")).collective
    assert forward is not None
    assert (forward.form, forward.kind) == ("invoke", "forward")
    built = found(catalogue.member(ddp, "__init__")).collective
    assert built is not None
    assert (built.form, built.kind) == ("construct", "wrap")
    shard = "accelerate.data_loader.DataLoaderShard"
    started = found(catalogue.member(shard, "__iter__")).collective
    assert started is not None
    assert started.form == "iterate"
    left = found(catalogue.member("torch.distributed.algorithms.Join", "__exit__")).collective
    assert left is not None
    assert (left.form, left.kind) == ("exit", "join")
    assert catalogue.member("torch.nn.Linear", "__call__") is None
    assert catalogue.member("torch.nn.Linear", "__init__") is None


def test_families(catalogue: Catalogue) -> None:
    assert catalogue.subclass_of("torchmetrics.text.BLEUScore", "torchmetrics.Metric")
    assert catalogue.subclass_of("torchmetrics.Accuracy", "torch.nn.Module")
    assert catalogue.subclass_of("torch.optim.AdamW", "torch.optim.Optimizer")
    assert not catalogue.subclass_of("torch.optim.lr_scheduler.StepLR", "torch.optim.Optimizer")
    assert not catalogue.is_class("torchmetrics.functional.accuracy"), "not capitalised"
    collection = found(catalogue.lookup("torchmetrics.MetricCollection")).cls
    assert collection is not None
    assert "torchmetrics.Metric" not in collection.bases


def test_subclasses_follow_aliases(catalogue: Catalogue) -> None:
    assert catalogue.subclass_of("pytorch_lightning.LightningModule", "torch.nn.Module")
    assert catalogue.subclass_of("lightning.LightningModule", "pytorch_lightning.LightningModule")
    assert catalogue.ancestry("lightning.pytorch.callbacks.EarlyStopping") == (
        "lightning.pytorch.callbacks.EarlyStopping",
        "lightning.pytorch.Callback",
    )


def test_attributes_and_parameters_have_classes(catalogue: Catalogue) -> None:
    assert (
        catalogue.attribute("accelerate.Accelerator", "state")
        == "accelerate.state.AcceleratorState"
    )
    assert catalogue.attribute("accelerate.Accelerator", "device") is None
    callback = "lightning.pytorch.callbacks.ModelCheckpoint"
    assert catalogue.method_param(callback, "trainer") == "lightning.pytorch.Trainer"
    assert catalogue.method_param(callback, "batch") is None


def test_names_that_give_a_class_away(catalogue: Catalogue) -> None:
    assert catalogue.hint("accelerator") == "accelerate.Accelerator"
    assert catalogue.hint("ddp_model") == "torch.nn.parallel.DistributedDataParallel"
    assert catalogue.hint("model_engine") == "deepspeed.DeepSpeedEngine"
    assert catalogue.telltale("full_tensor") == "torch.distributed.tensor.DTensor"
    for ambiguous in ("model", "trainer", "engine", "optimizer", "loader"):
        assert catalogue.hint(ambiguous) is None
    for ambiguous in ("gather", "step", "compute", "save", "barrier"):
        assert catalogue.telltale(ambiguous) is None


def test_the_environment(catalogue: Catalogue) -> None:
    rank, local = found(catalogue.env("RANK")).rank, found(catalogue.env("LOCAL_RANK")).rank
    assert rank is not None
    assert (rank.scope, rank.form) == ("global", "env")
    assert local is not None
    assert local.scope == "local"
    size = found(catalogue.env("WORLD_SIZE")).uniform
    assert size is not None
    assert size.value == "world_size"
    assert found(catalogue.env("HOSTNAME")).local is not None
    assert catalogue.env("HOME") is None
    assert catalogue.lookup("RANK") is None, "a variable is no dotted name"


@pytest.mark.parametrize(
    ("name", "scope", "test"),
    [
        ("rank", "global", None),
        ("ddp_rank", "global", None),
        ("local_rank", "local", None),
        ("master_process", "global", "main"),
        ("is_main_process", "global", "main"),
        ("is_local_main_process", "local", "main"),
        ("is_last_rank", "global", "last"),
        ("node_rank", "node", None),
        ("dp_rank", "dp", None),
        ("tp_rank", "tp", None),
        ("pp_rank", "pp", None),
    ],
)
def test_bare_rank_names(catalogue: Catalogue, name: str, scope: str, test: str | None) -> None:
    source = catalogue.rank_name(name)
    assert source is not None
    assert (source.scope, source.test) == (scope, test)
    assert catalogue.uniform_name(name) is None


@pytest.mark.parametrize("name", ["lora_rank", "matrix_rank", "r", "ranks", "world_size", "gpu"])
def test_names_that_are_no_rank(catalogue: Catalogue, name: str) -> None:
    assert catalogue.rank_name(name) is None


def test_bare_uniform_names(catalogue: Catalogue) -> None:
    size, distributed = catalogue.uniform_name("world_size"), catalogue.uniform_name("distributed")
    assert size is not None
    assert size.value == "world_size"
    assert distributed is not None
    assert distributed.value == "true"


def test_mesh_axes(catalogue: Catalogue) -> None:
    state = "megatron.core.parallel_state"
    group = found(catalogue.lookup(f"{state}.get_tensor_model_parallel_group")).group
    assert group is not None
    assert group.axis == "tp"
    last = found(catalogue.lookup(f"{state}.is_pipeline_last_stage")).rank
    assert last is not None
    assert (last.scope, last.test) == ("pp", "last")
    index = found(catalogue.member("torch.distributed.DeviceMesh", "get_local_rank")).rank
    assert index is not None
    assert (index.scope, index.axis) == ("mesh", "mesh_dim")


def test_local_values(catalogue: Catalogue) -> None:
    clock = found(catalogue.lookup("time.time")).local
    assert clock is not None
    assert not clock.weak
    probe = found(catalogue.lookup("os.path.exists")).local
    assert probe is not None
    assert probe.weak
    draw = found(catalogue.lookup("numpy.random.rand")).local
    assert draw is not None
    assert draw.stream == "numpy"
    seed = found(catalogue.lookup("accelerate.utils.set_seed")).seed
    assert seed is not None
    assert draw.stream in seed.streams


def test_a_retired_spelling_is_still_what_it_was(catalogue: Catalogue) -> None:
    scaler = found(catalogue.lookup("torch.cuda.amp.GradScaler"))
    assert scaler.retired is not None
    assert scaler.retired.replacement == "torch.amp.GradScaler"
    assert scaler.cls is not None
    assert found(catalogue.lookup("torch.amp.GradScaler")).retired is None
    invented = found(catalogue.lookup("accelerate.Accelerator.check_breakpoint")).retired
    assert invented is not None
    assert not invented.exists
    assert catalogue.lookup("accelerate.Accelerator.check_trigger") is not None


def test_words_for_the_prefilter(catalogue: Catalogue) -> None:
    assert {
        "all_reduce",
        "wait_for_everyone",
        "DistributedDataParallel",
        "main_process_first",
        "init_device_mesh",
    } <= catalogue.event_names
    assert {"get_rank", "RANK", "rank", "is_main_process", "rank_zero_only"} <= catalogue.rank_names
    assert {"time", "exists", "HOSTNAME", "randint"} <= catalogue.local_names
    for names in (catalogue.event_names, catalogue.rank_names, catalogue.local_names):
        assert not any("." in name or name.startswith("__") for name in names)
    assert "get_rank" not in catalogue.event_names
    assert "all_reduce" not in catalogue.rank_names
