import os

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from accelerate import Accelerator


class Sharded:
    def __init__(self, out):
        self.rank = dist.get_rank()
        self.folder = os.path.join(out, f"rank_{self.rank:02d}")
        self.shared = os.path.join(out, "shared")
        self.log = os.path.join(out, "log_%d.txt" % self.rank)

    def save(self, state, epoch):
        dcp.save(state, checkpoint_id=os.path.join(self.folder, str(epoch)))  # expect: DST410
        dcp.save(state, checkpoint_id=os.path.join(self.shared, str(epoch)))


def main(args):
    accelerator = Accelerator()
    host = os.environ.get("GROUP_RANK", "0") + "." + os.environ["LOCAL_RANK"]
    run = f"{args.model}-{host}"
    accelerator.save_state(os.path.join(args.out, run, "epoch_1"))  # expect: DST410
    name = "a-%s" % accelerator.process_index
    accelerator.save_state(name)  # expect: DST410
    name = f"a-{args.model}"
    accelerator.save_state(name)
    size = f"{args.model}-{os.environ['WORLD_SIZE']}"
    accelerator.save_state(os.path.join(args.out, size))
