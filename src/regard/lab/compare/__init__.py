"""Several models on the same data, with the same tokenizer, size and budget: which is better, at what, and by how much?

plan.py says what is compared, sizes.py makes the models equally large, contest.py tries recipes and trains the best, in
the processes of jobs.py; figures.py scores each model, summary.py tells the result. Everything is kept in one
directory; what is finished there is not done again.
"""

from regard.lab.compare.contest import compare
from regard.lab.compare.plan import Budget, Links, Plan

__all__ = ["Budget", "Links", "Plan", "compare"]
