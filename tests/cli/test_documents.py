"""Configurations and launch files go through every command as scripts do."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from distlint import cli

CONFIG = """\
{
    "train_micro_batch_size_per_gpu" : 4,

    "zero_optimization": {
        "stage": 2,   "cpu_offload": true,
        "overlap_com": true
    }
}
"""
LAUNCH = """\
#!/bin/bash
export NCCL_ASYNC_ERROR_HANDLING=1   # once needed
torchrun --standalone --master_port=29501 \\
    --nproc_per_node 2 train.py
"""
ACCELERATE = """\
# for eight GPUs
compute_environment: LOCAL_MACHINE
distributed_type:   MULTI_GPU
mixed_precision: no   # in full
num_processes: 8
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, **files: str) -> None:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (project / f"{stem}.{suffix}").write_bytes(dedent(text).encode())


def concise(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    cli.main(["check", "--output-format", "concise", *arguments])
    return [line for line in capsys.readouterr().out.splitlines() if "DST" in line]


def test_a_folder_is_searched_by_content(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        ds_json=CONFIG,
        data_json='{"train_batch_size": "a word among others"',
        package_json='{"name": "x"}',
        launch_sh=LAUNCH,
        build_sh="make all\n",
        acc_yaml=ACCELERATE,
        other_yaml="a: [1,\n",
    )
    assert cli.main(["check", "--show-files"]) == 0
    shown = capsys.readouterr().out.split()
    assert shown == ["acc.yaml", "data.json", "ds.json", "launch.sh"]


def test_places_and_messages(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, ds_json=CONFIG, launch_sh=LAUNCH, acc_yaml=ACCELERATE)
    found = [line.split(": ", 2)[:2] for line in concise(capsys)]
    assert [(place, said.split()[0]) for place, said in found] == [
        ("acc.yaml:4:18", "error[DST812]"),
        ("ds.json:5:23", "warning[DST803]"),
        ("ds.json:6:9", "error[DST802]"),
        ("launch.sh:2:8", "warning[DST821]"),
        ("launch.sh:3:23", "warning[DST824]"),
    ]


def test_fixes_change_nothing_else_to_the_byte(project: Path) -> None:
    write(project, ds_json=CONFIG, launch_sh=LAUNCH, acc_yaml=ACCELERATE)
    config = CONFIG.replace("\n", "\r\n")
    (project / "ds.json").write_bytes(b"\xef\xbb\xbf" + config.encode())
    cli.main(["fix", "--unsafe-fixes", "-q"])
    wanted = config.replace('"cpu_offload": true', '"offload_optimizer": {"device": "cpu"}')
    wanted = wanted.replace("overlap_com", "overlap_comm")
    assert (project / "ds.json").read_bytes() == b"\xef\xbb\xbf" + wanted.encode()
    assert (project / "launch.sh").read_text() == LAUNCH.replace("NCCL_ASYNC", "TORCH_NCCL_ASYNC")
    assert (project / "acc.yaml").read_text() == ACCELERATE.replace(": no ", ": 'no' ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a_b": 1,\n  "zero_optimization": {"stage": 1}\n}', None),
        (
            '{\n  "zero_optimization": {"stage": 1},\n  "nosuch": [1,\n 2]\n}',
            '{\n  "zero_optimization": {"stage": 1}\n}',
        ),
        ('{"nosuch": 1, "zero_optimization": {}}', '{"zero_optimization": {}}'),
        ('{"zero_optimization": {}, "nosuch": 1}', '{"zero_optimization": {}}'),
        (
            '{\n  "nosuch": 1,\n\n  "zero_optimization": {}\n}',
            '{\n\n  "zero_optimization": {}\n}',
        ),
    ],
)
def test_a_key_goes_with_its_comma(project: Path, before: str, after: str | None) -> None:
    write(project, ds_json=before)
    cli.main(["fix", "--unsafe-fixes", "-q", "--select", "DST801"])
    left = (project / "ds.json").read_text()
    json.loads(left)
    assert left == (after or before.replace('  "a_b": 1,\n', ""))


def test_comments_suppress_and_are_reported_when_they_do_not(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        project,
        launch_sh="""\
        # distlint: ignore[DST824] -- the port is free
        torchrun --standalone \\
            --master_port=29501 train.py
        export NCCL_TIMEOUT=3  # distlint: ignore[unknown-env-var]
        export NCCL_DEBUG=WARN  # distlint: ignore[DST820]
        """,
        acc_yaml="""\
        distributed_type: MULTI_GPU
        # distlint: ignore[DST811]
        nosuch: 1
        other: 2  # distlint: ignore[DST811]
        """,
    )
    (line,) = concise(capsys)
    assert line.startswith("launch.sh:5:25: warning[DST001]")


def test_comments_can_be_added(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docker = "FROM pytorch\nENV NCCL_TIMEOUT=3\n"
    write(project, ds_json=CONFIG, launch_sh=LAUNCH, acc_yaml=ACCELERATE)
    (project / "Dockerfile").write_text(docker)
    cli.main(["check", "--add-ignores=known", "-q"])
    comment = "# distlint: ignore[DST820] -- known"
    assert (project / "Dockerfile").read_text() == docker.replace("ENV", f"{comment}\nENV")
    assert (project / "ds.json").read_text() == CONFIG
    capsys.readouterr()
    assert {line.split(":")[0] for line in concise(capsys)} == {"ds.json"}


def test_json_is_left_to_the_configuration(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, ds_json=CONFIG, distlint_toml='per-file-ignores = {"*.json" = ["DST8"]}\n')
    assert concise(capsys) == []


def test_a_baseline_holds_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, ds_json=CONFIG, launch_sh=LAUNCH)
    arguments = ("--baseline", "known.json")
    assert cli.main(["check", *arguments, "--update-baseline", "-q"]) == 0
    (project / "ds.json").write_text("\n" + CONFIG.replace('"stage": 2', '"stage": 7'))
    capsys.readouterr()
    (line,) = concise(capsys, *arguments)
    assert "ds.json:6:18: error[DST808]" in line


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("ds.json", CONFIG, "DST802"),
        ("train.sbatch", "#!/bin/bash\nexport NCCL_TIMEOUT=3\n", "DST820"),
        ("accelerate.yaml", "distributed_type: NOSUCH\n", "DST812"),
    ],
)
def test_from_standard_input(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    code: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    found = concise(capsys, "-", "--stdin-filename", name)
    assert any(f"[{code}]" in line for line in found)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("ds.json", '{"zero_optimization": {\n  "stage": 2\n', "1:23"),
        ("ds.json", '{\n  "train_batch_size": 8\n  x = 3\n', "3:5"),
        ("ds.json", "", "1:1"),
        ("acc.yaml", "distributed_type: NO\n  nosuch: 1\n", "2:9"),
        ("ds.json", 'import os\nos.environ["A"] = "1"\n{"zero_optimization": {}}\n', "1:1"),
    ],
)
def test_what_cannot_be_read_is_a_finding_with_its_place(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, place: str
) -> None:
    (project / name).write_text(text)
    (line,) = concise(capsys, name)
    assert line.startswith(f"{name}:{place}: error[DST000]")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ds.json", '{"zero_optimization": {"stage": {{ stage }} {% if x %}, "a": 1{% endif %}}}'),
        ("ds.json", '{"zero_optimization": {"stage": ${STAGE}}, "train_batch_size": "{{ b }}"}'),
        ("acc.yaml", "distributed_type: {{ kind }}\nnum_processes: ${N}\n"),
        ("acc.yaml", "distributed_type: MULTI_GPU\n{% if x %}\nnosuch: 1\n{% endif %}\n"),
    ],
)
def test_templates_are_left_alone(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (project / name).write_text(text)
    assert concise(capsys, name) == []


def test_a_mistake_in_a_file_of_another_tool_is_its_own_matter(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, settings_json="{a: }}}", chart_yaml="a: [\n")
    assert cli.main(["check", "settings.json", "chart.yaml"]) == 0
    assert capsys.readouterr().err.count("nothing to check") == 2


def test_a_named_file_that_is_about_something_else(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, package_json='{"name": "x"}')
    assert cli.main(["check", "package.json"]) == 0
    assert "nothing to check" in capsys.readouterr().err


def test_the_projects_requirements_decide(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, ds_json='{"zero_optimization": {"stage": 1}, "amp": {"enabled": true}}')
    (line,) = concise(capsys)
    assert "warning[DST804]" in line
    write(project, requirements_txt="deepspeed<0.19\n")
    assert concise(capsys) == []
    write(project, requirements_txt="deepspeed==0.19.8\n")
    (line,) = concise(capsys)
    assert "error[DST804]" in line
    write(project, distlint_toml='versions = {deepspeed = "0.16"}\n')
    assert concise(capsys) == []


def test_names_of_the_users_own(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, launch_sh="export NCCL_OUR_OWN=1\ntorchrun a.py\n")
    assert len(concise(capsys)) == 1
    write(project, distlint_toml='allow-env = ["NCCL_OUR_OWN"]\n')
    assert concise(capsys) == []


def test_every_format_writes_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from distlint.output import formats

    write(project, ds_json=CONFIG, launch_sh=LAUNCH, acc_yaml=ACCELERATE)
    for name in formats.names():
        assert cli.main(["check", "--output-format", name]) == 1, name
    assert capsys.readouterr().err == ""


def test_a_script_needs_none_of_the_parsers(project: Path) -> None:
    import subprocess

    write(project, a_py="import torch.distributed as dist\ndist.barrier()\n")
    code = (
        "import sys; from distlint import cli; cli.main(['check', 'a.py', '-q']); "
        "print([m for m in ('ruamel.yaml', 'tree_sitter') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_findings_in_preview_are_not_counted_as_suppressed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripts = project / "scripts"  # a directory called "test..." may well ask for debugging
    scripts.mkdir()
    write(scripts, launch_sh="export NCCL_DEBUG=INFO\ntorchrun --nproc_per_node=2 train.py\n")
    assert cli.main(["check", "--statistics"]) == 0
    assert "0 findings suppressed by comments" in capsys.readouterr().out
    assert cli.main(["check", "--statistics", "--preview"]) == 0
    assert "1  DST825" in capsys.readouterr().out
