from accelerate import Accelerator

accelerator = Accelerator()
kept = []
for batch in loader:
    logits = model(batch)
    kept.append(accelerator.gather_for_metrics(batch))
