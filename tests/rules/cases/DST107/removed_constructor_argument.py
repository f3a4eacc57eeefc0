from accelerate import Accelerator

a = Accelerator(dispatch_batches=True, even_batches=False)  # expect: DST107
