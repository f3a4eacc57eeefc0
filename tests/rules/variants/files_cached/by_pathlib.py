"""The path knows whether its file exists."""

import json
from pathlib import Path

import torch.distributed as dist


def splits(names, folder):
    path = Path(folder) / "splits.json"
    if not path.exists():
        if dist.get_rank() == 0:
            path.write_text(json.dumps({"train": names[10:], "val": names[:10]}))
    return json.loads(path.read_text())  # expect: DST408


def main(names):
    dist.init_process_group("gloo")
    splits(names, "data")
