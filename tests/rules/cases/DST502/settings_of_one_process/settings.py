args = Namespace(world_size=1, rank=0)
