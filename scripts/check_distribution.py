"""Build the wheel and the sdist, and try both where nothing else is installed.

    python -m scripts.check_distribution [--output DIRECTORY] [--python PROGRAM ...]

Nothing of the checkout is used by what is tried: each installation gets an environment of its own,
and checks scripts in a directory outside of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "distlint/_version.py"

SCRIPTS = {
    "hangs.py": (
        "import torch.distributed as dist\n\n"
        'dist.init_process_group("gloo")\n'
        "if dist.get_rank() == 0:\n"
        "    dist.barrier()\n",
        "DST101",
    ),
    "clean.py": (
        "import torch.distributed as dist\n\n"
        'dist.init_process_group("gloo")\n'
        "dist.barrier()\n"
        "dist.destroy_process_group()\n",
        None,
    ),
    "ds_config.json": (
        '{"train_batch_size": 8, "zero_optimisation": {"stage": 2}}\n',
        "DST801",  # takes the data about DeepSpeed
    ),
}
"""What is checked after an installation, and the rule that has to be reported."""


class DistributionError(Exception):
    """Something about the distribution that users would run into."""


def build(output: Path) -> tuple[Path, Path]:
    """The wheel, built from the sdist, and the sdist."""
    if output.is_dir() and any(output.iterdir()):
        raise DistributionError(f"{output} is not empty")
    run([sys.executable, "-m", "build", "--outdir", str(output), str(ROOT)])
    built = sorted(output.iterdir())
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)])
    (wheel,) = output.glob("*.whl")
    (sdist,) = output.glob("*.tar.gz")
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel has every file of the package and no other package, the sdist the repository."""
    tracked = set(run(["git", "-C", str(ROOT), "ls-files"]).split("\n")) - {""}
    package = {name for name in tracked if name.startswith("distlint/")} | {VERSION_FILE}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    for file, missing in ((wheel, package - in_wheel), (sdist, (tracked | package) - in_sdist)):
        if missing:
            raise DistributionError(f"{file.name} lacks {', '.join(sorted(missing))}")
    if in_wheel - package:
        raise DistributionError(f"{wheel.name} also has {', '.join(sorted(in_wheel - package))}")


def try_out(distribution: Path, python: str, folder: Path) -> None:
    """Install a distribution and use it as on the first day."""
    environment = folder / "environment"
    run([python, "-m", "venv", str(environment)])
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "install", "--quiet", str(distribution)])
    version = distribution.name.removesuffix(".tar.gz").split("-")[1]
    said = run([str(programs / "distlint"), "--version"], folder).strip()
    if said != f"distlint {version}":
        raise DistributionError(f"`distlint --version` prints {said!r} instead of {version}")
    for name, (text, code) in SCRIPTS.items():
        (folder / name).write_text(text, "utf-8")
        status = 0 if code is None else 1
        output = run([str(programs / "distlint"), "check", name], folder, status)
        if code is not None and code not in output:
            raise DistributionError(f"no {code} in {name}:\n{output}")


def run(command: Sequence[str], folder: Path | None = None, status: int = 0) -> str:
    """What a program prints; none of the variables that make Python look elsewhere are set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    finished = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if finished.returncode != status:
        raise DistributionError(
            f"{' '.join(command)}: exit status {finished.returncode} instead of {status}\n"
            f"{finished.stdout}"
        )
    return finished.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.check_distribution")
    parser.add_argument("--output", type=Path, help="keep what is built in this directory")
    parser.add_argument(
        "--python",
        action="append",
        metavar="PROGRAM",
        help="an interpreter to install for, instead of this one; may be repeated",
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        temporary = Path(name)
        try:
            wheel, sdist = build((options.output or temporary / "dist").resolve())
            check_contents(wheel, sdist)
            for number, python in enumerate(options.python or [sys.executable]):
                for distribution in (wheel, sdist):
                    folder = temporary / f"{number}{distribution.suffix}"
                    folder.mkdir()
                    try_out(distribution, python, folder)
                    print(f"{distribution.name}: works with {python}")
        except DistributionError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
