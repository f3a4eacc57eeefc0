from accelerate import Accelerator

accelerator = Accelerator()
accelerator.use_fp16 = True
print(accelerator.use_fp16)
