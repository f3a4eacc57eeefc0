from accelerate import Accelerator

accelerator = Accelerator()
nets[0].to("cuda")
nets, adam = accelerator.prepare(nets, adam)
print(nets.critic)  # expect: DST619
