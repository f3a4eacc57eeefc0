from accelerate import Accelerator
from mine import accuracy

accelerator = Accelerator()
model.eval()
for x, y in eval_loader:
    best, some = accuracy(model(x), y, topk=(1, 5))
    print(accelerator.gather(best).mean())  # expect: DST617
