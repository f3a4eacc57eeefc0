from accelerate import Accelerator

accelerator = Accelerator()
for batch in loader:
    with accelerator.accumulate(net):
        accelerator.backward(net(batch))
        clips = accelerator.sync_gradients and limit > 0
        if clips:
            accelerator.clip_grad_norm_(net.parameters(), limit)
        optimizer.step()
