from accelerate import Accelerator

accelerator = Accelerator()
model = accelerator.prepare(model)
if tied:
    model.tie_weights()  # expect: DST619
