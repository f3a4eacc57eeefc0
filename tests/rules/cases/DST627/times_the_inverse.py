import accelerate

STEPS = 4


def main(model, loader):
    accelerator = accelerate.Accelerator(mixed_precision="bf16", gradient_accumulation_steps=STEPS)
    for batch in loader:
        loss = (1 / STEPS) * model(batch).loss  # expect: DST627
        accelerator.backward(loss)
