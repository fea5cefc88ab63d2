PEERS: tuple[str, ...] = ()
def runs(*a): return {}
