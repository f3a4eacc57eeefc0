"""Train a character model with torchrun, in the style of a well-known single-file trainer.

Run it with `torchrun --standalone --nproc-per-node 2 examples/nanogpt_style/buggy.py`.
"""

import datetime
import math
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

# -----------------------------------------------------------------------------
out_dir = tempfile.gettempdir()
max_iters = 60
eval_interval = 20
eval_iters = 4
patience = 2
batch_size = 8
block_size = 16
n_embd = 32
learning_rate = 1e-2
backend = "gloo"
# -----------------------------------------------------------------------------

ddp = int(os.environ.get("RANK", -1)) != -1  # is this a ddp run?
if ddp:
    # Give up after a few seconds, so that a hang shows while you watch (the default is minutes).
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=10))
    ddp_rank = int(os.environ["RANK"])
    ddp_world_size = int(os.environ["WORLD_SIZE"])
    master_process = ddp_rank == 0
    seed_offset = ddp_rank
else:
    ddp_rank, ddp_world_size = 0, 1
    master_process = True
    seed_offset = 0
torch.manual_seed(1337 + seed_offset)

text = "the quick brown fox jumps over the lazy dog. " * 40
vocabulary = sorted(set(text))
data = torch.tensor([vocabulary.index(character) for character in text])
split = int(0.9 * len(data))
train_data, val_data = data[:split], data[split:]


def get_batch(name):
    source = train_data if name == "train" else val_data
    starts = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in starts])
    y = torch.stack([source[i + 1 : i + 1 + block_size] for i in starts])
    return x, y


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), n_embd)
        self.mix = nn.GRU(n_embd, n_embd, batch_first=True)
        self.head = nn.Linear(n_embd, len(vocabulary))

    def forward(self, x, targets=None):
        hidden, _ = self.mix(self.embedding(x))
        logits = self.head(hidden)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def average(value):
    """The mean over the processes."""
    if not ddp:
        return value
    tensor = torch.tensor(value)
    dist.all_reduce(tensor)
    return tensor.item() / ddp_world_size


model = CharModel()
if ddp:
    model = DDP(model)
raw_model = model.module if ddp else model
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)


@torch.no_grad()
def estimate_loss():
    raw_model.eval()
    losses = {}
    for name in ("train", "val"):
        total = 0.0
        for _ in range(eval_iters):
            _, loss = raw_model(*get_batch(name))
            total += loss.item()
        losses[name] = average(total / eval_iters)
    raw_model.train()
    return losses


def get_lr(it):
    return learning_rate * 0.5 * (1 + math.cos(math.pi * it / max_iters))


best_val_loss, bad_evals = float("inf"), 0
for iter_num in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(iter_num)

    if iter_num % eval_interval == 0 and master_process:
        losses = estimate_loss()
        print(f"step {iter_num}: train {losses['train']:.3f}, val {losses['val']:.3f}")
        if losses["val"] < best_val_loss:
            best_val_loss = losses["val"]
            torch.save(raw_model.state_dict(), os.path.join(out_dir, "ckpt.pt"))

    _, loss = model(*get_batch("train"))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

    bad_evals = bad_evals + 1 if loss.item() > 3.0 else 0
    if bad_evals > patience:  # this process stops when its own loss no longer falls
        break

if ddp:
    dist.barrier()
    dist.destroy_process_group()
