from accelerate import Accelerator

a = Accelerator(even_batches=False)  # expect: DST107
