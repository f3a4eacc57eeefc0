import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.hub.download_url_to_file("https://example.org/w", dst="weights.pt")  # expect: DST415
