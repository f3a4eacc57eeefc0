import torch
from accelerate import Accelerator

accelerator = Accelerator()
model, eval_loader = accelerator.prepare(model, eval_loader)
model.eval()
for batch in eval_loader:
    outputs = model(**batch)
    loss = outputs.loss
    print(accelerator.gather(outputs.loss))
