from accelerate import Accelerator

accelerator = Accelerator()
for part in nets:
    nets[part].to("cuda")
nets, adam = accelerator.prepare(nets, adam)
print(nets.critic)
