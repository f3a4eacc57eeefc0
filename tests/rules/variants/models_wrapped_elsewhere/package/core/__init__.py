from .loops import fit
