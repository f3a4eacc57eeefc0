"""Items are numbered from the rank on, so that one rank alone has a first one."""
# effect: hang

import torch.distributed as dist

dist.init_process_group("gloo")
for number, name in enumerate(["first", "second"], start=dist.get_rank()):
    if number == 0:  # expect: DST101
        print(name)
        dist.barrier()
dist.destroy_process_group()
