"""Tests for those who write their own parts: `mrag.testing.indexes` is what every index backend passes."""
