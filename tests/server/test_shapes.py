"""What is inside a model as JSON has it, also where a number is none."""

import json

from regard.inside import timeline
from regard.server.api.schema.inside_told import Timed
from regard.server.work import shapes
from regard.tasks.searching import Habits
from regard.tasks.translator import Translator
from tests.inside.models import ENGLISH, loaded


def test_a_forced_token_that_a_model_never_writes_has_no_log_probability() -> None:
    plain = loaded("bahdanau")
    pad = plain.tokenizers.target.pad
    model = Translator(plain.model, plain.tokenizers, langs=plain.langs, habits=Habits(beam=1, banned=(pad,)))
    told = shapes.timeline(timeline(model, ENGLISH, forced=[pad], max_new_tokens=3))
    assert (told["log_prob"], told["steps"][0]["probability"]) == (None, 0.0)
    assert Timed.model_validate({"model": "m", **json.loads(json.dumps(told, allow_nan=False))}).log_prob is None
