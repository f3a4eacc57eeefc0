import accelerate

acc = accelerate.Accelerator()
acc.use_fp16  # expect: DST107
