import os

import torch.distributed as dist

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"  # expect: DST508
dist.get_debug_level()
