"""A property makes the group when it is first asked for, on the two sides of a branch."""

import torch.distributed as dist


class Cache:
    group_of_all = None

    @property
    def group(self):
        if Cache.group_of_all is None:
            Cache.group_of_all = dist.new_group(backend="gloo")
        return Cache.group_of_all

    def name(self, per_node=2):
        names = [None] * dist.get_world_size()
        if dist.get_rank() % per_node == 0:
            dist.all_gather_object(names, "segment", group=self.group)
        else:
            dist.all_gather_object(names, None, group=self.group)
        return names[dist.get_rank() // per_node * per_node]


dist.init_process_group("gloo")
print(Cache().name())
dist.destroy_process_group()
