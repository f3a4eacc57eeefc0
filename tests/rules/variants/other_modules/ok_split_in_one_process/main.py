from data import parts

parts(range(10))
