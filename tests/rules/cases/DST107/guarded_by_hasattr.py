from accelerate import Accelerator

accelerator = Accelerator()
half = accelerator.use_fp16 if hasattr(accelerator, "use_fp16") else False
