import json

import torch.distributed as dist

dist.init_process_group("gloo")
results = [dist.get_world_size()]
with open("results.json", "w") as file:
    file.write(json.dumps(results))
dist.destroy_process_group()
