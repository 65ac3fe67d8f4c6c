"""A server under load for hours, with kills, full disks and bad clients, held against an oracle."""
