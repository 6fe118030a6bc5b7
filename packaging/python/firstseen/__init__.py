"""Finds the documents of a stream that were seen before, and names the earlier ones.

    with firstseen.open("seen/", threshold=.6) as fs:
        for v in fs.see(docs):
            print(v.kept, v.of, v.score)

The module runs the program firstseen, which its wheel installs beside it.
"""

from ._program import Error, dedup, find
from ._seen import Seen, Verdict, connect, open

__all__ = ["Error", "Seen", "Verdict", "connect", "dedup", "find", "open"]
