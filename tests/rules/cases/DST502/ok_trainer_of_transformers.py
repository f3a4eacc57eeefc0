import torch
import torch.distributed as dist
from transformers import AutoModel, Trainer, TrainingArguments

arguments = TrainingArguments("out")
dist.init_process_group("nccl")
model = AutoModel.from_pretrained("bert-base-uncased").cuda()
Trainer(model, arguments).train()
