"""Rules about data: what all rules together report for scripts of several files."""

from __future__ import annotations

from pathlib import Path

from distlint.analyzer.project.project import Project
from distlint.rules.find import find
from distlint.source.document import Document
from tests.support import fixes

SAMPLED = (
    "from torch.utils.data import DataLoader, DistributedSampler\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    "sampler = DistributedSampler(data)\n"
    "loader = DataLoader(data, sampler=sampler)\n"
)


def test_a_training_function_of_another_file_is_looked_into(tmp_path: Path) -> None:
    """It goes through the loader in each epoch, and tells the sampler nothing, or does."""
    script = tmp_path / "script.py"
    script.write_text(
        "from torch.utils.data import DataLoader, DistributedSampler\n"
        "from engine import train_one_epoch\n"
        "sampler = DistributedSampler(data)\n"
        "loader = DataLoader(data, sampler=sampler)\n"
        "for epoch in range(9):\n"
        "    train_one_epoch(model, loader)\n"
    )
    engine = "def train_one_epoch(model, loader):\n    {}\n    for batch in loader:\n"
    engine += "        model(batch).backward()\n"
    scaled = engine.replace("model(batch).backward()", "scaler(model(batch)); model.zero_grad()")
    for text, told, expected in (
        (engine, "pass", ["DST203"]),
        (engine, "loader.sampler.set_epoch(next(counter))", []),
        (engine, "loader.sampler.set_epoch(9)", ["DST203"]),
        (scaled, "pass", ["DST203"]),
    ):
        (tmp_path / "engine.py").write_text(text.format(told))
        document = Document.read(script)
        found = find(document, Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST203"] == expected


def test_a_script_beside_it_hands_each_rank_its_part(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "from torch.utils.data import DataLoader\n"
        "class Loop:\n"
        "    def __init__(self, net, data):\n"
        "        self.net, self.data = DDP(net), data\n"
        "    def run(self):\n"
        "        for batch in DataLoader(self.data, batch_size=8):\n"
        "            self.net(batch).sum().backward()\n"
    )
    for data, expected in (("data.shard(size, rank)", []), ("data", ["DST202"])):
        (tmp_path / "main.py").write_text(f"from loop import Loop\nLoop(net, {data}).run()\n")
        found = find(Document.read(script), Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST202"] == expected


def test_a_trainer_of_the_project_seeds_what_its_heirs_draw(tmp_path: Path) -> None:
    """Where its base, in another file, is a Trainer of transformers."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "import transformers\n"
        "from accelerate import Accelerator\n"
        "from base import Base\n"
        "class Probing(Base):\n"
        "    def probe(self, data):\n"
        "        return data.select(np.random.choice(len(data), size=(9,)))\n"
    )
    for base, expected in (("Trainer", []), ("object", ["DST212"])):
        text = f"from transformers import Trainer\nclass Base({base}):\n    pass\n"
        (tmp_path / "base.py").write_text(text)
        found = find(Document.read(script), Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST212"] == expected


def test_a_loader_that_may_keep_its_last_batch_is_left_alone() -> None:
    source = (
        SAMPLED + "train = DataLoader(data, batch_size=4, sampler=sampler)\n"
        "for batch in train:\n"
        "    model(batch).backward()\n"
    )
    (shown,) = [fix for fix in fixes(source) if "drop_last" in fix.message]
    assert shown.applicability == "displayonly"
