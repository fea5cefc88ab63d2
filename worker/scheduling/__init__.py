"""Jobs from accepted to ended: records, queue, attempts, recovery and retention."""
