"""regard export --to ctranslate2: what programs that call CTranslate2 themselves are given."""

from pathlib import Path

import ctranslate2
import pytest
import torch
from tokenizers import Tokenizer

import regard
from regard.engines.conversion import words_of
from regard.engines.export import export_ctranslate2
from regard.errors import ConfigError
from tests.commands import Run
from tests.engines.translators import learned, learned_directory, letters
from tests.models.pretrained import marians
from tests.tasks.aligners import diagonal


def test_ctranslate2_translates_with_what_is_written(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, _ = run("export", learned_directory(), "--to", "ctranslate2", "--out", out)
    assert (code, said) == (0, f"{out}: ctranslate2.Translator\n")
    tokenizer, texts = Tokenizer.from_file(str(out / "tokenizer.json")), letters(20, tmp_path)
    translator = ctranslate2.Translator(str(out), device="cpu", compute_type="float32")
    tokens = [[*one.tokens, "</s>"] for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    found = translator.translate_batch(tokens, beam_size=1)
    ids = [[tokenizer.token_to_id(token) for token in one.hypotheses[0]] for one in found]
    assert [tokenizer.decode(row) for row in ids] == learned().translate(texts, beam=1)


def test_what_a_marian_never_writes_is_not_written_by_others_either(run: Run, tmp_path: Path) -> None:
    marians.write(tmp_path / "marian")
    loaded = regard.load(tmp_path / "marian")
    (never,) = loaded.habits.banned
    output = loaded.model.output
    untouched = output.bias.detach().clone()
    with torch.no_grad():
        output.bias[never] = 50.0  # it would write nothing else
    export_ctranslate2(loaded, tmp_path / "out")
    assert output.bias[never] == 50.0, "the model itself is as it was"
    translator = ctranslate2.Translator(str(tmp_path / "out"), device="cpu", compute_type="float32")
    names = words_of(loaded)
    found = translator.translate_batch([["▁The", names[0].end]], beam_size=1, max_decoding_length=12)[0].hypotheses[0]
    assert found
    assert names[1].names[never] not in found
    assert not torch.equal(output.bias, untouched)


def test_a_directory_with_something_in_it_is_not_written_to(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, said = run("export", learned_directory(), "--to", "ctranslate2", "--out", tmp_path)
    assert (code, [path.name for path in tmp_path.iterdir()]) == (1, ["file"])
    assert "is not empty" in said


def test_a_model_without_a_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Diagonal has no form in CTranslate2"):
        export_ctranslate2(diagonal(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
