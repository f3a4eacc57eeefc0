"""Under FSDP1, a sharded state of the optimizer is gathered when it is made ready for loading."""
# effect: hang

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import StateDictType

dist.init_process_group("gloo")
rank = dist.get_rank()
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
FSDP.set_state_dict_type(model, StateDictType.SHARDED_STATE_DICT)
state = FSDP.optim_state_dict(model, optimizer)
if rank == 0:  # expect: DST407
    state = FSDP.optim_state_dict_to_load(model, optimizer, state)
    optimizer.load_state_dict(state)
dist.barrier()
dist.destroy_process_group()
