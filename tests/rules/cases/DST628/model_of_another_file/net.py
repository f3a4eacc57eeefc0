from blocks import Base, Block


class Encoder(Base):
    def __init__(self, depth):
        super().__init__()
        self.layers = [Block(64) for _ in range(depth)]  # expect: DST628

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
