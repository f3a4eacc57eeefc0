import horovod.torch as hvd
import torch
from accelerate import Accelerator

hvd.init()
torch.cuda.set_device(hvd.rank())  # expect: DST504
torch.cuda.set_device(hvd.local_rank())
accelerator = Accelerator()
device = torch.device(f"cuda:{accelerator.process_index}")  # expect: DST504
device = torch.device(f"cuda:{accelerator.local_process_index}")
