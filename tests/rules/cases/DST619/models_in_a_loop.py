from accelerate import Accelerator

accelerator = Accelerator()
for part in nets:
    part.to("cuda")
nets, adam = accelerator.prepare(nets, adam)
print(nets.critic)  # expect: DST619
