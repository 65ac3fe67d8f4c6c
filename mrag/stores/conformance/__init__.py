"""What every triple store must do, as a suite for pytest that ships with the package.

A new store is done when a subclass passes::

    class TestMyStore(StoreConformance):
        @pytest.fixture(scope="class")
        @classmethod
        def store(cls):
            with MyStore("http://localhost:9999") as store:
                yield store

The suite writes graphs whose names begin with `urn:conformance:` and knowledge graphs named
`conformance-…`, and removes them. Terms are compared by value, because most stores print numbers, booleans
and language tags in a spelling of their own.
"""

from mrag.stores.conformance.graphs import GraphTests
from mrag.stores.conformance.querying import QueryTests
from mrag.stores.conformance.writing import WriteTests

__all__ = ["StoreConformance"]


class StoreConformance(QueryTests, WriteTests, GraphTests):
    """The suite; subclasses give the fixture `store`."""
