import json

import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    open("results.json", "w").write(json.dumps([dist.get_world_size()]))
dist.destroy_process_group()
