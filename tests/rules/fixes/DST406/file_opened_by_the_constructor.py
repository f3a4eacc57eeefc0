import json

import torch.distributed as dist


class Results:
    def __init__(self, path):
        self.file = open(path, "w")

    def write(self, results):
        self.file.write(json.dumps(results))


dist.init_process_group("gloo")
Results("results.json").write([dist.get_world_size()])
dist.destroy_process_group()
