import json

import torch.distributed as dist

dist.init_process_group("gloo")
open("results.json", "w").write(json.dumps([dist.get_world_size()]))
dist.destroy_process_group()
