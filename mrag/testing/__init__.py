"""Made data for measurements and tests of others: `mrag.testing.annotations` writes annotation files."""
