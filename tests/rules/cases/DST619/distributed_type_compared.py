from accelerate import Accelerator

accelerator = Accelerator()
model = accelerator.prepare(model)
if accelerator.distributed_type == "TPU":
    model.tie_weights()
