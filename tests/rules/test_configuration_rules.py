"""Cross-checks between launch lines, configurations and scripts, which need files side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver
from distlint.rules.settings import find_in
from distlint.source.document import Document, DocumentError
from distlint.source.settings.sheet import read

DS = {
    "train_batch_size": 64,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 2,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "zero_optimization": {"stage": 2},
}
AUTO = {"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2}}


def found(folder: Path, line: str, **files: str) -> list[str]:
    """The codes that a launch line gets among files beside it."""
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text)
    document = Document.from_bytes(line.encode(), folder / "launch.sh")
    sheet = read(document)
    assert sheet is not None
    return [finding.code for finding in find_in(sheet, {}, ()).findings]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("deepspeed --num_gpus 8 t.py --deepspeed_config ds.json", []),
        ("deepspeed --num_gpus 4 t.py --deepspeed_config ds.json", ["DST817"]),
        ("deepspeed --num_gpus 4 t.py --deepspeed --deepspeed_config ds.json", ["DST817"]),
        ("deepspeed --num_gpus 4 t.py --deepspeed --deepspeed-config ds.json", ["DST817"]),
        ("deepspeed --num_gpus 4 t.py --deepspeed --deepspeed_config=ds.json", ["DST817"]),
        ("deepspeed --num_gpus 4 t.py --deepspeed_config ds.json --deepspeed", ["DST817"]),
        ("torchrun --nproc_per_node 4 t.py --deepspeed --deepspeed_config ds.json", ["DST817"]),
        (
            "srun torchrun --nproc_per_node 4 t.py --deepspeed --deepspeed_config ds.json",
            ["DST817"],
        ),
        ("deepspeed --num_gpus 8 t.py --deepspeed --deepspeed_config ds.json", []),
        ("deepspeed --num_gpus 4 t.py --deepspeed --deepspeed_config", []),
        ("deepspeed --num_gpus 4 t.py --deepspeed --out ds.json", []),
        ("deepspeed --num_gpus $N t.py --deepspeed_config ds.json", []),
        ("torchrun --nnodes 2 --nproc_per_node 4 --rdzv_endpoint h:1 t.py --deepspeed ds.json", []),
        ("deepspeed t.py --deepspeed ds.json --gradient_accumulation_steps 2", []),
        ("deepspeed t.py --deepspeed ds.json --gradient_accumulation_steps 4", ["DST817"]),
        ("deepspeed t.py --deepspeed=ds.json --learning_rate=1e-4", []),
        ("deepspeed t.py --deepspeed=ds.json --learning_rate=2e-5", ["DST817"]),
        ("deepspeed t.py --deepspeed nosuch.json --learning_rate 2", []),
        ("deepspeed t.py --deepspeed auto.json --per_device_train_batch_size 2", []),
    ],
)
def test_a_line_against_the_file_that_it_names(tmp_path: Path, line: str, codes: list[str]) -> None:
    assert found(tmp_path, line, ds_json=json.dumps(DS), auto_json=json.dumps(AUTO)) == codes


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        ("import deepspeed\ndeepspeed.initialize(args)\n", ["DST809"]),
        ("import deepspeed\nfrom transformers import Trainer\n", []),
        ("print()\n", []),
    ],
)
def test_auto_needs_somebody_to_fill_it_in(tmp_path: Path, script: str, codes: list[str]) -> None:
    line = "deepspeed train.py --deepspeed_config auto.json"
    assert found(tmp_path, line, auto_json=json.dumps(AUTO), train_py=script) == codes


@pytest.mark.parametrize("alias", ["", " as ds"])
def test_a_script_may_name_the_file_and_nothing_else(tmp_path: Path, alias: str) -> None:
    name = alias.split()[-1] if alias else "deepspeed"
    script = f'import deepspeed{alias}\n{name}.initialize(model=m, config="auto.json")\n'
    (tmp_path / "auto.json").write_text(json.dumps(AUTO))
    (tmp_path / "train.py").write_text(script)
    report = check_paths([tmp_path], Resolver())
    assert [finding.code for finding in report.findings] == ["DST809"]


@pytest.mark.parametrize(
    ("script", "requirements", "severity"),
    [
        ('p.add_argument("--local_rank")\n', "", "warning"),
        ('p.add_argument("--local_rank")\n', "torch>=2.1\n", "error"),
        ('p.add_argument("--local_rank")\n', "torch<2\n", "info"),
        ('p.add_argument("--local_rank", "--local-rank")\n', "", "info"),
        ('p.add_argument("--local_rank")\np.parse_known_args()\n', "", "info"),
        ("x = 1\n", "torch>=1.4,<1.9\n", None),
    ],
)
def test_what_the_old_launcher_passes(
    tmp_path: Path, script: str, requirements: str, severity: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(requirements)
    (tmp_path / "train.py").write_text(script)
    line = "python -m torch.distributed.launch --nproc_per_node 2 train.py\n"
    sheet = read(Document.from_bytes(line.encode(), tmp_path / "launch.sh"))
    assert sheet is not None
    severities = [finding.severity.value for finding in find_in(sheet, {}, ()).findings]
    assert severities == ([severity] if severity else [])


PARSER = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-b", "--batch-size", type=int)
parser.add_argument("--lr", type=float)
parser.add_argument("--local_rank", type=int)
args = parser.parse_args()
"""
OTHER = PARSER.replace("--local_rank", "--rank")
IMPORTED = "from options.base import get_args\nargs = get_args()\n"


@pytest.mark.parametrize(
    ("script", "line", "option"),
    [
        (PARSER, "torchrun train.py --epochs 3", "--epochs"),
        (PARSER, "torchrun train.py --lr 1 --nnodes=2 --momentum 1", "--nnodes"),
        (PARSER, "torchrun --nnodes=2 train.py --batch_size 3", "--batch_size"),
        (PARSER, "torchrun train.py --batch 3 --lr=1", None),
        (PARSER, "torchrun train.py $ARGS --lr 1 ${EXTRA[@]} -b 3", None),
        (PARSER, "torchrun other.py --epochs 3", None),
        (PARSER, "python -m torch.distributed.launch train.py --lr 1", None),
        (PARSER, "deepspeed train.py --lr 1", None),
        (OTHER, "torchrun train.py --lr 1", None),
        (OTHER, "python -m torch.distributed.launch train.py --lr 1", "--local_rank"),
        (OTHER, "python -m torch.distributed.launch --use_env train.py --lr 1", None),
        (OTHER, "deepspeed train.py --lr 1", "--local_rank"),
        (OTHER, "deepspeed --no_local_rank train.py --lr 1", None),
        (IMPORTED, "torchrun train.py --epochs 3", "--epochs"),
        (IMPORTED, "torchrun train.py --lr 3", None),
        (IMPORTED.replace("base", "elsewhere"), "torchrun train.py --epochs 3", None),
        (PARSER.replace("parse_args", "parse_known_args"), "torchrun train.py --epochs 3", None),
        (PARSER + "add_options(parser)\n", "torchrun train.py --epochs 3", None),
        (PARSER.replace("Parser()", "Parser(parents=[p])"), "torchrun train.py --epochs 3", None),
        (PARSER + "for n in names:\n    parser.add_argument(n)\n", "torchrun train.py --e 3", None),
    ],
)
def test_options_that_a_script_does_not_have(
    tmp_path: Path, script: str, line: str, option: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "options").mkdir()
    (tmp_path / "train.py").write_text(script)
    parser = PARSER.replace("\n", "\n    ").replace("args = ", "return ")
    (tmp_path / "options" / "base.py").write_text(f"def get_args():\n    {parser}\n")
    sheet = read(Document.from_bytes(f"{line}\n".encode(), tmp_path / "launch.sh"))
    assert sheet is not None
    found = [each for each in find_in(sheet, {}, ()).findings if each.code == "DST832"]
    assert len(found) == (option is not None)
    assert all(f"`{option}`" in each.message for each in found)


PIPFILE_LOCK = """{
    "default": {
        "torch": {
            "hashes": [
                "sha256:0f1d15f38bf2440b60f7a435e207d4fbcfb5dc2868c2ab9b96de61fdad395966"
            ],
            "index": "pytorch",
            "version": "==1.10.1+cu113"
        }
    }
}
"""


@pytest.mark.parametrize("name", ["environment.yml", "conda_environment.yaml"])
@pytest.mark.parametrize(("bound", "severities"), [("=1.9.0", []), (">=2.1", ["error"])])
def test_versions_that_conda_installs(
    tmp_path: Path, name: str, bound: str, severities: list[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(
        f"channels:\n  - pytorch\ndependencies:\n  - python=3.8\n  - pytorch::pytorch{bound}\n"
    )
    (tmp_path / "train.py").write_text('p.add_argument("--local_rank")\n')
    line = "python -m torch.distributed.launch --nproc_per_node 2 train.py\n"
    sheet = read(Document.from_bytes(line.encode(), tmp_path / "launch.sh"))
    assert sheet is not None
    findings = [each for each in find_in(sheet, {}, ()).findings if each.code == "DST830"]
    assert [each.severity.name.lower() for each in findings] == severities


@pytest.mark.parametrize("at_root", [True, False])
@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("Pipfile", '[packages]\ntorch = "==1.10.1"\n', []),
        ("Pipfile", '[packages]\ntorch = {version = "==1.10.1+cu113", index = "p"}\n', []),
        ("Pipfile", "[packages]\ntorch = {index = 'p', version = '~=1.10'}\n", []),
        ("requirements.txt", "Package   Version\n--------- -------\ntorch     1.10.1+cu113\n", []),
        ("requirements.txt", "torch 2.3.0\n", ["DST821"]),
        ("requirements.txt", "torch @ https://p.h/whl/torch-1.10.1-cp38-linux.whl\n", []),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "1.10.1"\n', []),
        ("Pipfile", '[packages]\ntorch = {version = ">=2.2", index = "p"}\n', ["DST821"]),
        ("Pipfile", '[packages]\ntorch = "*"\n', ["DST821"]),
        ("Pipfile", '[packages]\ntorchaudio = {version = "==0.10.1"}\n', ["DST821"]),
        ("pyproject.toml", '[t]\ntorch = {version = "^1.13", source = "p"}\n', []),
        ("pyproject.toml", '[t]\ntorch = {git = "https://g.h/t", tag = "v1.13"}\n', ["DST821"]),
        ("Pipfile.lock", PIPFILE_LOCK, []),
        ("Pipfile.lock", PIPFILE_LOCK.replace("1.10.1", "2.4.0"), ["DST821"]),
        ("Pipfile.lock", PIPFILE_LOCK.replace('"torch"', '"torchaudio"'), ["DST821"]),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "1.13.1"\noptional = false\n', []),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.1.2+cu118"\nsource = {}\n', []),
        ("uv.lock", '[[package]]\r\nname = "torch"\r\nversion = "2.1.2"\r\n', []),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.6.0"\n', ["DST821"]),
        ("pdm.lock", '[[package]]\nname = "torchvision"\nversion = "0.12"\n', ["DST821"]),
    ],
)
def test_versions_that_other_installers_ask_for(
    tmp_path: Path, name: str, text: str, codes: list[str], at_root: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text, newline="")
    folder = tmp_path if at_root else tmp_path / "scripts"
    line = "export NCCL_ASYNC_ERROR_HANDLING=1\ntorchrun --nproc_per_node 2 train.py\n"
    sheet = read(Document.from_bytes(line.encode(), folder / "launch.sh"))
    assert sheet is not None
    assert [each.code for each in find_in(sheet, {}, ()).findings] == codes


def test_a_misspelt_option_in_a_variable_is_found_and_left_alone(tmp_path: Path) -> None:
    line = 'A="--nproc_per_nodes 8 --nnodes 1"\ntorchrun $A t.py\n'
    sheet = read(Document.from_bytes(line.encode(), tmp_path / "launch.sh"))
    assert sheet is not None
    (finding,) = find_in(sheet, {}, ()).findings
    assert (finding.code, finding.fix) == ("DST828", None)
    line = 'P="python -m torch.distributed.launch --nproc_per_node 8 --use_env"\n$P t.py\n'
    sheet = read(Document.from_bytes(line.encode(), tmp_path / "launch.sh"))
    assert sheet is not None
    (finding,) = find_in(sheet, {}, ()).findings
    assert (finding.code, finding.fix) == ("DST830", None)


def test_accumulation_in_two_places(tmp_path: Path) -> None:
    line = "accelerate launch --config_file acc.yaml train.py"
    acc = "distributed_type: DEEPSPEED\ndeepspeed_config:\n  gradient_accumulation_steps: 4\n"
    script = "accelerator = Accelerator(gradient_accumulation_steps={})\n"
    assert found(tmp_path, line, acc_yaml=acc, train_py=script.format(8)) == ["DST817"]
    assert found(tmp_path, line, acc_yaml=acc, train_py=script.format(4)) == []


@pytest.mark.parametrize(
    "line",
    [
        "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 t.py",
        "CUDA_VISIBLE_DEVICES=$GPUS torchrun --nproc_per_node 8 t.py",
        "if x; then export CUDA_VISIBLE_DEVICES=0; fi\ntorchrun --nproc_per_node 8 t.py",
        "CUDA_VISIBLE_DEVICES=0 torchrun --nproc_per_node gpu t.py",
        "torchrun --nnodes 1:4 --nproc_per_node 8 t.py",
        "torchrun --nnodes 2 --node_rank 0 --master_addr localhost t.py",
        'torchrun "$@"',
        "torchrun $ARGS --whatever t.py",
        "accelerate launch --cpu --num_processes 4 t.py",
        "echo torchrun --nosuch",
        'A="--master_port=12000"\ndeepspeed ${A} t.py --deepspeed ds_config.json',
        'A="--nproc_per_node 8 --nnodes 1"\ntorchrun $A t.py --bf16 True',
        "N=\ntorchrun --nproc_per_node ${N} t.py --model_name x",
        'A="--nproc_per_node=8"\ntorchrun "$A" t.py',
        "pip install deepspeed --upgrade",
        "deepspeed --hostfile h --num_nodes 2 --num_gpus 8 t.py --nosuch",
        "srun -n 2 torchrun --nproc_per_node 8 t.py",
    ],
)
def test_launch_lines_that_are_right_or_not_known(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, f"#SBATCH --ntasks-per-node=8\n{line}\n") == []


NAMES = [
    "a.sh",
    "Dockerfile",
    "Makefile",
    "ds_a.json",
    "accelerate.yaml",
    "workflows/a.yml",
    "a.py",
]
PIECES = st.sampled_from(
    "torchrun accelerate launch deepspeed --nproc_per_node = 8 $N ${N} $( ) ( \" ' \\ \n \t # : - "
    "{ } [ ] , export NCCL_DEBUG=INFO ENV RUN CMD run: env: zero_optimization distributed_type "
    "stage << EOF | > && ; if fi do done é {{ }} <<: *a &a os.environ[ pkill -f python".split(" ")
)


@pytest.mark.parametrize("name", NAMES)
@given(pieces=st.lists(PIECES, max_size=30), gap=st.sampled_from(["", " ", "\n"]))
@example(pieces=["run:"], gap="")
@example(pieces=["shell: ''", "run: torchrun train.py"], gap="\n")
@settings(max_examples=60, deadline=None)
def test_nothing_crashes(name: str, pieces: list[str], gap: str) -> None:
    document = Document.from_bytes(gap.join(pieces).encode(), Path("/nowhere") / name)
    rows = [1]
    try:
        sheet = read(document)
        assert sheet is not None
        rows += [finding.place.span.end_row for finding in find_in(sheet, {}, ()).findings]
    except DocumentError as error:
        rows.append(error.row)
    assert max(rows) <= len(document.lines)


def places(name: str, text: str) -> list[tuple[str, int, int]]:
    document = Document.from_bytes(text.encode(), Path(name))
    sheet = read(document)
    assert sheet is not None
    spans = [(each.code, each.place.span) for each in find_in(sheet, {}, ()).findings]
    return [(code, span.row, span.column) for code, span in spans]


def test_a_command_in_a_string_of_several_lines_has_its_places() -> None:
    script = 'import os\nos.system("""export NCCL_TIMEOUT=3\ntorchrun --nope t.py""")\n'
    assert sorted(places("t.py", script)) == [("DST820", 2, 21), ("DST828", 3, 10)]


def test_python_by_the_name_that_sys_has_for_it() -> None:
    script = (
        "import subprocess, sys\n"
        'subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nope", "t.py"])\n'
    )
    assert places("t.py", script) == [("DST828", 2, 65)]


def test_an_option_that_resembles_none_gets_no_suggestion() -> None:
    document = Document.from_bytes(b"torchrun --nope t.py\n", Path("launch.sh"))
    sheet = read(document)
    assert sheet is not None
    (finding,) = find_in(sheet, {}, ()).findings
    assert finding.fix is None
    assert finding.explanation is not None
    assert finding.explanation.help == "Put options of the script after the script"


def test_accelerate_refuses_a_file_of_two_documents() -> None:
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\n---\nnum_processes: 1\n"
    with pytest.raises(DocumentError, match="second one starts here") as caught:
        read(Document.from_bytes(text.encode(), Path("accelerate.yaml")))
    assert (caught.value.row, caught.value.column) == (4, 1)


@pytest.mark.parametrize(
    ("setting", "effect"),
    [
        ("TORCH_CPP_LOG_LEVEL=0", None),
        ("TORCH_CPP_LOG_LEVEL=LOUD", "the default is used instead"),
        ("ACCELERATE_DEBUG_MODE=maybe", "the job fails at startup"),
        ("NCCL_DEBUG=LOUD", "NCCL silently reads another value"),
    ],
)
def test_what_becomes_of_a_value_that_is_not_taken(setting: str, effect: str | None) -> None:
    line = f"export {setting}\ntorchrun --nproc_per_node=2 t.py\n"
    sheet = read(Document.from_bytes(line.encode(), Path("launch.sh")))
    assert sheet is not None
    found = [
        each.explanation.effect for each in find_in(sheet, {}, ()).findings if each.explanation
    ]
    assert found == ([effect] if effect else [])


def test_a_number_that_no_float_holds() -> None:
    big = "9" * 400
    text = f'{{"train_batch_size": {big}, "zero_optimization": {{"reduce_bucket_size": {big}}}}}'
    assert places("ds_config.json", text) == []


def test_settings_of_a_program_that_hands_some_of_them_on_to_deepspeed() -> None:
    own = {f"seq-length-{number}": number for number in range(8)}
    assert places("neox.json", json.dumps({**own, **AUTO})) == []
    few = dict(list(own.items())[:2])
    assert [code for code, *_ in places("ds_config.json", json.dumps({**few, **AUTO}))] == [
        "DST801",
        "DST801",
    ]


def test_what_deepspeed_hands_on_and_what_a_script_makes_itself() -> None:
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "amp": {"enabled": False, "opt_level": "O1"},
        "optimizer": {"type": "sat.ops.FusedEmaAdam", "params": {"lr": 2e-4}},
    }
    assert [code for code, *_ in places("ds_config.json", json.dumps(config))] == ["DST804"]


@pytest.mark.parametrize(("enabled", "codes"), [(True, []), (False, ["DST808"])])
def test_a_tuner_chooses_from_lists(enabled: bool, codes: list[str]) -> None:
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "autotuning": {"enabled": enabled},
        "zero_optimization": {"stage": [0, 1, 2]},
    }
    assert [code for code, *_ in places("ds_config.json", json.dumps(config))] == codes


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("export NCCL_USE_SNAP=1\n", ["DST820"]),
        ("export NCCL_USE_SNAP=1\nexport NCCL_TUNER_PLUGIN=libnccl-tuner.so\n", []),
        ("export NCCL_FASTRAK_IFNAME=enp6s0\nexport NCCL_TUNER_CONFIG_PATH=/etc/a.textproto\n", []),
        ("export NCCL_NET_PLUGIN=ofi\nexport NCCL_SOKET_IFNAME=eth0\n", ["DST820"]),
        ("export NCCL_IBEXT_DISABLE=1\n", []),
        ("export NCCL_IB_IS_GLOBAL=1 NCCL_PLUGIN_P2P=ib\n", []),
        ("export NCCL_UCXPUT_ACK_DELAY=1\nexport NCCL_SHARP_GROUP_SIZE_THRESH=2\n", []),
        ("export NCCL_DYNAMIC_CHUNK_SIZE=524288\n", []),
        ("export NCCL_TELEMETRY_MODE=4\n", []),
        ("export NCCL_GPUVIZ_READ_INTERVAL_IN_MICROSECONDS=1000000\n", []),
        ("export NCCL_IBEXT_DISABL=1\n", ["DST820"]),
        ("export NCCL_IBEXT_ENABLE_ALL=1\n", ["DST820"]),
        ("export NCCL_IBEXT_DISABLE=1\nexport NCCL_USE_SNAP=1\n", ["DST820"]),
        ("export NCCL_TIMEOUT=1800\nexport NCCL_IBEXT_DISABLE=1\n", ["DST820"]),
    ],
)
def test_a_plugin_of_nccl_reads_names_of_its_own(lines: str, codes: list[str]) -> None:
    found = places("launch.sh", lines + "torchrun --nproc_per_node=8 t.py\n")
    assert [code for code, *_ in found] == codes


IN_EACH_TASK = "#SBATCH --ntasks-per-node=4\n"
TORCHRUN = "torchrun --nnodes=5 --nproc_per_node=4 --rdzv_endpoint=$HEAD:29400 train.py"


@pytest.mark.parametrize(
    ("line", "is_bad"),
    [
        (f"srun {TORCHRUN}", True),
        (f"srun --nodes=5 {TORCHRUN}", True),
        (f"srun -N 5 --label {TORCHRUN}", True),
        (f"srun --nodes=$SLURM_NNODES {TORCHRUN}", True),
        (f"srun bash -c '{TORCHRUN}'", True),
        (f"srun --nodes=5 /bin/bash -lc 'cd src; {TORCHRUN}'", True),
        ("srun bash run.sh", True),
        ("srun sh -x run.sh --epochs 3", True),
        ("srun ./run.sh", True),
        (f"srun --ntasks-per-node=1 {TORCHRUN}", False),
        (f"srun --nodes=5 --ntasks=5 {TORCHRUN}", False),
        (f"srun -n 5 bash -c '{TORCHRUN}'", False),
        (f"srun $OPTIONS {TORCHRUN}", False),
        ("srun --ntasks-per-node=1 bash run.sh", False),
        ("srun bash other.sh", False),
        ("srun bash one.sh", False),
        ("srun bash -c 'python train.py'", False),
        ("srun echo run.sh", False),
        (f"bash -c '{TORCHRUN}'", False),
        ("bash run.sh", False),
    ],
)
def test_launchers_in_each_task_of_slurm(tmp_path: Path, line: str, is_bad: bool) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=5\n{IN_EACH_TASK}{line}\n"
    beside = {"run_sh": TORCHRUN, "one_sh": "torchrun --nproc_per_node=1 train.py"}
    assert ("DST831" in found(tmp_path, text, **beside)) == is_bad
