"""What may be wrong with a workspace or a machine: looked at, explained, mended."""
