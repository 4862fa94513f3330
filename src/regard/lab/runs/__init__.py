"""All the runs under a directory, side by side: how far they are, what they score, in what they differ.

reading.py finds and reads them, comparing.py sets them against each other, page.py draws their curves on one page.
Nothing is written into a run, and a damaged one is told as such.
"""

from regard.lab.runs.comparing import best_of, compared, differences, listing
from regard.lab.runs.page import notes, page
from regard.lab.runs.reading import KnownRun, find

__all__ = ["KnownRun", "best_of", "compared", "differences", "find", "listing", "notes", "page"]
