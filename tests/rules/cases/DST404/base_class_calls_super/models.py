import lightning.pytorch as pl
from bases import Base


class Large(Base):
    pass


class Small(pl.LightningModule):
    pass
