import torch
import torch.distributed as dist

BACKENDS = {"cuda": "nccl", "cpu": "gloo"}
kind = "cuda" if torch.cuda.is_available() else "cpu"
backend = "gloo" if kind == "cpu" else BACKENDS["cuda"]
dist.init_process_group(backend)  # expect: DST502
model = torch.nn.Linear(2, 2).cuda()
