"""The files of tests that take most of the processor or of waiting, in about that order.

Workers begin with them; a file that is not here follows by how many tests it has. Where slow tests run alone,
other files take longest.
"""

from pathlib import Path

LONGEST, LONGEST_SLOW = (
    Path(__file__).with_name(f"{name}.txt").read_text("utf-8").split() for name in ("longest", "longest_slow")
)
