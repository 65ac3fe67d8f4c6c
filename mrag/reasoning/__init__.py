"""OWL reasoning compiled to SPARQL rules, and proofs of what was inferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.reasoning import run  # noqa: F401 - for `mrag.reasoning.…`
    from mrag.reasoning.proofs import Proof, prove, render
    from mrag.reasoning.rounds import Closure
    from mrag.reasoning.run import proof_of, reason

__all__ = ["Closure", "Proof", "proof_of", "prove", "reason", "render"]

__getattr__, __dir__ = lazy(__name__)
