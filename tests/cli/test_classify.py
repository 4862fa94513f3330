"""regard train --task classification, classify, evaluate, look; fill."""

import json
from pathlib import Path

import regard
from tests.commands import Run
from tests.doctor import mails
from tests.insight.test_heatmap import texts
from tests.models.pretrained.checkpoints import theirs, write
from tests.tasks.test_classification import written

SETTINGS = [
    "training.updates=60", "training.warmup=5", "training.learning_rate=1e-2", "training.average=0", "batch.tokens=128",
    "model.width=16", "model.dropout=0", "training.validate_every=60",
]  # fmt: skip


def test_a_user_trains_asks_scores_and_looks(tmp_path: Path, run: Run) -> None:
    train, val = written(tmp_path / "train.tsv", 200, 1), written(tmp_path / "val.tsv", 40, 2)
    out = str(tmp_path / "out")
    asked = ["--task", "classification", "--model", "rnn", "--train", train, "--val", val, "--out", out]
    code, said, err = run("train", *asked, *SETTINGS)
    assert code == 0, err
    assert "accuracy 100.00%" in said

    code, said, err = run("classify", out, "the old horse is here", "the new fig is here")
    assert code == 0, err
    assert [line.split("\t")[0] for line in said.splitlines()] == ["animal", "fruit"]
    (tmp_path / "in.txt").write_text("the old saw is here\n")
    code, said, err = run("classify", out, "--input", str(tmp_path / "in.txt"), "--json")
    assert json.loads(said)["label"] == "tool"
    assert set(json.loads(said)["probabilities"]) == {"animal", "fruit", "tool"}

    (tmp_path / "long.tsv").write_text("the old saw is here\ttool\n" + "cat " * 600 + "\tanimal\n")
    code, said, err = run("evaluate", out, "--data", str(tmp_path / "long.tsv"))
    assert (code, said) == (1, "")
    assert "long.tsv, line 2 is longer than the model can take" in err

    picture, labels = tmp_path / "confusion.svg", tmp_path / "said.txt"
    code, said, err = run("evaluate", out, "--data", val, "--confusion", str(picture), "--outputs", str(labels))
    assert code == 0, err
    assert said.startswith("accuracy 100.00%, macro F1 1.000 (40 texts)")
    assert "animal" in said.splitlines()[3]
    assert {"is", "said to be", "share of the true class"} <= set(texts(picture))
    assert "weight" not in texts(picture)
    assert len(labels.read_text().splitlines()) == 40
    code, said, err = run("evaluate", out, "--data", val, "--json")
    assert json.loads(said)["accuracy"] == 1.0

    code, said, err = run("look", out, "the old cat is here", "--out", str(tmp_path / "look.svg"))
    assert code == 0, err
    assert said == "animal\n"
    code, said, err = run("look", out, "the old cat is here", "--word", "cat", "--out", str(tmp_path / "look.svg"))
    assert code == 1
    assert "'cat' does not look at anything in" in err
    assert "only the class does" in err
    assert "leave --word out" in err
    assert "by_words" not in err
    code, said, err = run("info", out)
    assert code == 0, err
    assert said.startswith("model       rnn for classification\n")


def test_what_cannot_be_done_is_said(tmp_path: Path, run: Run) -> None:
    train = written(tmp_path / "train.tsv", 50, 1)
    out = str(tmp_path / "out")
    short = [*SETTINGS[1:-1], "training.updates=6", "training.warmup=1"]
    assert run("train", "--task", "classification", "--model", "rnn", "--train", train, "--out", out, *short)[0] == 0
    code, _, err = run("classify", out)
    assert (code, "nothing to classify" in err) == (1, True)
    code, _, err = run("classify", out, "cat " * 600)
    assert (code, "--truncate" in err) == (1, True)
    assert run("classify", out, "cat " * 600, "--truncate")[0] == 0
    code, _, err = run("train", "--train", tmp_path / "odd.tsv", "--task", "translation", "--init", out, "--out", "x")
    assert (code, "is a rnn for classification; one for translation is built otherwise" in err) == (1, True)
    code, _, err = run("fill", out, "a [MASK]")
    assert (code, "cannot fill in words" in err) == (1, True)
    (tmp_path / "odd.tsv").write_text("the sea\twater\n")
    code, _, err = run("evaluate", out, "--data", str(tmp_path / "odd.tsv"))
    assert (code, "odd.tsv, line 1" in err) == (1, True)


def test_a_model_of_others_is_given_pairs_or_texts(tmp_path: Path, run: Run) -> None:
    place = write(tmp_path / "nli", theirs("BertForSequenceClassification", num_labels=3))
    pairs = [("the cat", "a dog"), ("a river", "the bank")]
    given = [text for pair in pairs for text in pair]
    wanted = {
        "pairs": [each.label for each in regard.load(place).classify(pairs)],
        "texts": [each.label for each in regard.load(place).classify(given)],
    }
    code, said, err = run("classify", str(place), *given, "--pairs")
    assert code == 0, err
    assert [line.split("\t")[0] for line in said.splitlines()] == wanted["pairs"]
    assert said.splitlines()[0].endswith("the cat | a dog")
    code, said, err = run("classify", str(place), *given)
    assert [line.split("\t")[0] for line in said.splitlines()] == wanted["texts"]
    (tmp_path / "in.tsv").write_text("".join("\t".join(pair) + "\n" for pair in pairs))
    code, said, err = run("classify", str(place), "--input", str(tmp_path / "in.tsv"), "--json")
    assert [json.loads(line)["label"] for line in said.splitlines()] == wanted["pairs"]
    for odd in (given[:1], given[:3]):
        code, _, err = run("classify", str(place), *odd, "--pairs")
        assert (code, "no second one" in err) == (1, True)


def test_a_line_of_a_file_that_does_not_fit_is_named(tmp_path: Path, run: Run) -> None:
    train = written(tmp_path / "train.tsv", 50, 1, pairs=True)
    out = str(tmp_path / "out")
    short = [*SETTINGS[1:-1], "training.updates=6", "training.warmup=1"]
    assert run("train", "--task", "classification", "--model", "rnn", "--train", train, "--out", out, *short)[0] == 0
    given = tmp_path / "in.tsv"
    given.write_text("the cat\ta dog\na dog alone\n")
    code, said, err = run("classify", out, "--input", given)
    assert (code, said) == (1, "")
    assert "This classifier takes pairs of texts" in err
    assert "in.tsv, line 2 has 1: 'a dog alone'" in err
    assert "do this: give two texts each; in a file, with one tab between them" in err
    given.write_text("the cat\ta dog\na dog\t" + "cat " * 600 + "\n")
    code, _, err = run("classify", out, "--input", given)
    assert (code, "in.tsv, line 2 is longer than the model can take" in err) == (1, True)


def test_hidden_words_are_filled_in(tmp_path: Path, run: Run) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat is here .\nthe dog is there .\n\nthe cat is there .\nthe dog is here .\n" * 5)
    out = str(tmp_path / "out")
    settings = ["model.width=16", "model.heads=2", "training.updates=4", "training.warmup=1", "tokenizer.size=100"]
    asked = ["--task", "masked-lm", "--model", "bert:tiny", "--train", str(corpus), "--out", out]
    code, _, err = run("train", *asked, *settings)
    assert code == 0, err
    code, said, err = run("fill", out, "the [MASK] is [MASK] .", "--top", "2")
    assert code == 0, err
    assert len(said.splitlines()) == 6
    code, said, err = run("fill", out, "the [MASK] is here .", "--json")
    assert len(json.loads(said)["masks"][0]) == 5


def test_train_says_first_what_is_wrong_with_labelled_data(tmp_path: Path, run: Run) -> None:
    rows = mails.mails()
    rows[250] = rows[20][0], "praise" if rows[20][1] != "praise" else "order"
    asked = ["--task", "classification", "--model", "rnn", "--train", mails.write(tmp_path / "t.tsv", rows)]
    asked += ["--val", mails.write(tmp_path / "v.tsv", mails.held_out()), *SETTINGS[1:-1]]
    code, _, err = run("train", *asked, "training.updates=6", "training.warmup=1", "--out", tmp_path / "a")
    assert code == 0, err
    assert "warning: train: 1 text has more than one label" in err
    assert "regard doctor says more about it" in err
