"""The memory: its model, its rules, its stores, and the fast front that never imports cognee."""
