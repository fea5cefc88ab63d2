"""Memories that come from elsewhere or leave: export lines, texts of earlier versions, receipts."""
