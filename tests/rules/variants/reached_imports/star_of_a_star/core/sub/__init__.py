from .loops import *
