import bdb

from accelerate import Accelerator

debugger = bdb.Bdb()
debugger.set_breakpoint()
