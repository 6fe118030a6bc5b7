"""Finds documents seen before in a stream, and names the earlier ones.

The module runs the program firstseen, which its wheel installs beside it; see open() and dedup().
"""

from . import adapters
from ._feed import Verdict
from ._program import Error, dedup, find
from ._seen import Seen, connect, open

__all__ = ["Error", "Seen", "Verdict", "adapters", "connect", "dedup", "find", "open"]
