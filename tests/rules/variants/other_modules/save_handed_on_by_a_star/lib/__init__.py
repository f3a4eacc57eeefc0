from .files import *
