from accelerate import Accelerator
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader


def stream(raw, accelerator):
    raw = split_dataset_by_node(
        raw, rank=accelerator.process_index, world_size=accelerator.num_processes
    )
    return raw.map(str).with_format("torch")


def main(raw, net):
    accelerator = Accelerator()
    parts = {"net": net, "data": DataLoader(stream(raw, accelerator), batch_size=8)}
    net, data = accelerator.prepare(*parts.values())  # expect: DST213
    for x in data:
        accelerator.backward(net(x).mean())
