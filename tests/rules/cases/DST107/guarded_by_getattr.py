from accelerate import Accelerator

accelerator = Accelerator()
half = getattr(accelerator, "use_fp16", False) or accelerator.use_fp16
