"""A look at the data before anything is trained on it: what is wrong with it, and what training on it will take.

`check_data` reads the files once and finds what can be found in the text alone; `examine` also tokenises it as training
would, and makes a few updates to see how long they take; `first_look` is for the beginning of a training. Pairs and
labelled rows have one shape (see survey.py); what only one of them has is in pairs.py and labelled.py.
"""

from regard.doctor.checkup import Diagnosis, check_data, examine, first_look
from regard.doctor.problems import Example, Problem

__all__ = ["Diagnosis", "Example", "Problem", "check_data", "examine", "first_look"]
