from accelerate import Accelerator
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader

accelerator = Accelerator()
part = split_dataset_by_node(d, rank=accelerator.process_index, world_size=2)
loader = accelerator.prepare(DataLoader(part.map(f)))  # expect: DST213
