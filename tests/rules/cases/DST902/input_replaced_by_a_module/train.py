import quiet
import torch.distributed as dist

dist.init_process_group("gloo")
for batch in range(2):
    loss = model(batch).mean()
    loss.backward()
    print("step", batch)  # expect: DST902
