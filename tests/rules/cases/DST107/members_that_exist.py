from accelerate import Accelerator

accelerator = Accelerator(split_batches=True)
print(accelerator.even_batches, accelerator.logging_dir)
with accelerator.join_uneven_inputs([], even_batches=False):
    pass
