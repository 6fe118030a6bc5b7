"""Finds the documents of a stream that were seen before, and names the earlier ones.

The module runs the program firstseen, which its wheel installs beside it; see open() and dedup().
"""

from ._feed import Verdict
from ._program import Error, dedup, find
from ._seen import Seen, connect, open

__all__ = ["Error", "Seen", "Verdict", "connect", "dedup", "find", "open"]
