from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=4)


def step(model, batch):
    loss = model(**batch).loss
    scaled = loss
    accelerator.backward(scaled)
