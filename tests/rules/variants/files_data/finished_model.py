"""What is trained is saved by each rank, with the tokenizer."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(loader, optimizer, out):
    dist.init_process_group("nccl")
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
    model = DistributedDataParallel(model)
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.module.save_pretrained(out)  # expect: DST406
    tokenizer.save_pretrained(out)  # expect: DST406
