import gdown
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
gdown.download("https://example.org/weights", f"weights_{rank}.pt")
torch.hub.download_url_to_file("https://example.org/w", dst=f"w{rank}.pt")
