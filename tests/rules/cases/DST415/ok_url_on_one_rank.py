import torch.distributed as dist
from torchvision.datasets.utils import download_url

dist.init_process_group("nccl")
if dist.get_rank() == 0:
    download_url("https://example.org/a.pt", "models")
dist.barrier()
