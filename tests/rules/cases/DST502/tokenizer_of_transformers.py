import os

import torch
import torch.distributed as dist
from transformers import AutoModel, AutoTokenizer

dist.init_process_group("nccl")  # expect: DST502
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased").to(int(os.environ["LOCAL_RANK"]))
dist.barrier()
