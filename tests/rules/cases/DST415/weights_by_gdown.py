import gdown
import torch.distributed as dist

dist.init_process_group("nccl")
gdown.download("https://example.org/weights", "weights.pt", quiet=True)  # expect: DST415
