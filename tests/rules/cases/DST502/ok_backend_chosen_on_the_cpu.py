import torch
import torch.distributed as dist

backend = "gloo" if dist.is_gloo_available() else "mpi"
dist.init_process_group(backend)
model = torch.nn.Linear(2, 2)
if torch.cuda.is_available():
    print("there is a GPU, which is not used")
