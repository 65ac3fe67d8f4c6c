"""Commands that check answers and receipts, and keep the keys that sign them."""
