"""Several models on the same data, with the same tokenizer, size and budget: which is better, at what, and by how much?

plan.py says what is compared and material.py reads it; sizes.py makes the models equally large; contest.py tries
recipes and trains the best, in the processes of jobs.py; figures.py scores each model, summary.py tells the result.
Everything is kept in one directory (directory.py); what is finished there is not done again.
"""

from regard.lab.compare.contest import compare
from regard.lab.compare.directory import claim
from regard.lab.compare.plan import Budget, GoldFiles, Plan

__all__ = ["Budget", "GoldFiles", "Plan", "claim", "compare"]
