# A metric of the batch, not of each sample.
from accelerate import Accelerator
from timm.utils import accuracy

accelerator = Accelerator()
model.eval()
for x, y in eval_loader:
    best, some = accuracy(model(x), y, topk=(1, 5))
    print(accelerator.gather(best).mean())
