"""The language server: the engine of the command line, in one process with an editor's protocol."""
