from accelerate import Accelerator

accelerator = Accelerator()
nets["critic"].to("cuda")
nets, adam = accelerator.prepare(nets, adam)
print(nets.critic)
