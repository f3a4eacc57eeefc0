"""Documents that configure or start a training: read into plain data with exact positions."""
