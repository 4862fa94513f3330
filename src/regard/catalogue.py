"""What there is: which tasks, which models serve them, which presets they have. The one table that commands go by.

Everything is named by a string and imported when asked for, so that `--help` never waits for torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from regard.config import Tree, nearest
from regard.errors import ConfigError


@dataclass(frozen=True)
class Model:
    """module:name of a model, of its config and of its presets; the first preset is the default. `brings`: what a
    preset sets in other sections than "model"."""

    model: str
    config: str
    presets: str
    preset_names: tuple[str, ...]
    about: str
    brings: Mapping[str, Tree] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """module:class of the task (data → losses), of its tokenizers, of its scoring, and of the object with its verbs.
    `of_text`: whether it reads texts, and so has a section "tokenizer" in its settings."""

    task: str
    tokenizers: str
    validate: str
    evaluate: str
    verbs: str
    about: str
    of_text: bool = True


MODELS: Mapping[str, Mapping[str, Model]] = {
    "transformer": {
        "translation": Model(
            model="regard.models.transformer:Transformer",
            config="regard.models.transformer:TransformerConfig",
            presets="regard.models.transformer:PRESETS",
            preset_names=("tiny", "small", "deep-shallow", "base", "big"),
            about="self-attention only, encoder and decoder (Vaswani 2017)",
        ),
        "classification": Model(
            model="regard.models.classifier:TransformerClassifier",
            config="regard.models.classifier:TransformerClassifierConfig",
            presets="regard.models.classifier:TRANSFORMER_PRESETS",
            preset_names=("tiny", "small"),
            about="the Transformer's encoder, from scratch",
        ),
    },
    "luong": {
        "translation": Model(
            model="regard.models.luong:Luong",
            config="regard.models.luong:LuongConfig",
            presets="regard.models.luong:PRESETS",
            preset_names=("tiny", "small", "paper"),
            about="recurrent; updates, then looks; four scores, three windows (Luong 2015)",
        ),
    },
    "bahdanau": {
        "translation": Model(
            model="regard.models.bahdanau:Bahdanau",
            config="regard.models.bahdanau:BahdanauConfig",
            presets="regard.models.bahdanau:PRESETS",
            preset_names=("tiny", "small", "paper"),
            about="recurrent; looks, then updates: the first attention (Bahdanau 2015)",
        ),
    },
    "rnn": {
        "translation": Model(
            model="regard.models.recurrent:Recurrent",
            config="regard.models.recurrent:RecurrentConfig",
            presets="regard.models.recurrent:PRESETS",
            preset_names=("tiny", "small", "cho", "sutskever"),
            about="recurrent, without attention: one vector for the whole sentence (Cho 2014, Sutskever 2014)",
        ),
        "classification": Model(
            model="regard.models.classifier:RecurrentClassifier",
            config="regard.models.classifier:RecurrentClassifierConfig",
            presets="regard.models.classifier:RECURRENT_PRESETS",
            preset_names=("tiny", "small", "stacked"),
            about="recurrent; last state, mean, maximum or attention (Yang 2016)",
        ),
    },
    "bert": {
        "masked-lm": Model(
            model="regard.models.bert:BertForPretraining",
            config="regard.models.bert:BertConfig",
            presets="regard.models.bert:PRESETS",
            preset_names=("tiny", "mini", "small", "base"),
            about="the Transformer's encoder, pretrained on running text (Devlin 2018)",
        ),
        "classification": Model(
            model="regard.models.bert:BertClassifier",
            config="regard.models.bert:BertConfig",
            presets="regard.models.bert:PRESETS",
            preset_names=("tiny", "mini", "small", "base"),
            about="from --init: a pretrained BERT, fine-tuned",
        ),
        "similarity": Model(
            model="regard.models.bert:BertEncoder",
            config="regard.models.bert:BertConfig",
            presets="regard.models.bert:PRESETS",
            preset_names=("tiny", "mini", "small", "base"),
            about="sentence vectors, from --init: a pretrained BERT (Reimers 2019)",
        ),
    },
    "gpt2": {
        "lm": Model(
            model="regard.models.gpt2:GPT2",
            config="regard.models.gpt2:GPT2Config",
            presets="regard.models.gpt2:PRESETS",
            preset_names=("tiny", "char", "small", "medium"),
            about="the Transformer's decoder on its own: the next word of any text (Radford 2019)",
            brings={"char": {"tokenizer": {"kind": "character"}}},
        ),
    },
    "word2vec": {
        "words": Model(
            model="regard.models.word2vec:Word2Vec",
            config="regard.models.word2vec:Word2VecConfig",
            presets="regard.models.word2vec:PRESETS",
            preset_names=("small", "paper"),
            about="a vector for each word, whatever its context (Mikolov 2013)",
        ),
    },
    "entities": {
        "entities": Model(
            model="regard.models.entities:Entities",
            config="regard.models.entities:EntitiesConfig",
            presets="regard.models.entities:PRESETS",
            preset_names=("tiny", "small"),
            about="things with features instead of words, under any relation (Vinyals 2019, Baker 2020)",
        ),
    },
}
"""Which model serves which task; a name may be another network in another task."""

TASKS = {
    "translation": Task(
        task="regard.tasks.translation:TranslationTask",
        tokenizers="regard.tasks.pairs:Tokenizers",
        validate="regard.evaluation.translation:validate",
        evaluate="regard.evaluation.translation:evaluate",
        verbs="regard.tasks.translator:Translator",
        about="sentences into another language",
    ),
    "masked-lm": Task(
        task="regard.tasks.masked_lm:MaskedLMTask",
        tokenizers="regard.tasks.texts:OneTokenizer",
        validate="regard.evaluation.masked_lm:validate",
        evaluate="regard.evaluation.masked_lm:evaluate",
        verbs="regard.tasks.encoder:Encoder",
        about="hidden words and next sentences of running text",
    ),
    "classification": Task(
        task="regard.tasks.classification:ClassificationTask",
        tokenizers="regard.tasks.labels:LabelledTokenizer",
        validate="regard.evaluation.classification:validate",
        evaluate="regard.evaluation.classification:evaluate",
        verbs="regard.tasks.classifier:Classifier",
        about="texts, or pairs of texts, into classes",
    ),
    "similarity": Task(
        task="regard.tasks.similarity:SimilarityTask",
        tokenizers="regard.tasks.texts:OneTokenizer",
        validate="regard.evaluation.similarity_task:validate",
        evaluate="regard.evaluation.similarity_task:evaluate",
        verbs="regard.tasks.encoder:Encoder",
        about="sentence vectors: pairs of texts that mean the same are near each other",
    ),
    "lm": Task(
        task="regard.tasks.lm:LMTask",
        tokenizers="regard.tasks.texts:OneTokenizer",
        validate="regard.evaluation.lm:validate",
        evaluate="regard.evaluation.lm:evaluate",
        verbs="regard.tasks.generator:Generator",
        about="the next word of running text, from which texts are continued",
    ),
    "words": Task(
        task="regard.tasks.words:WordsTask",
        tokenizers="regard.tasks.texts:OneTokenizer",
        validate="regard.evaluation.words:validate",
        evaluate="regard.evaluation.words:evaluate",
        verbs="regard.tasks.word_vectors:WordVectors",
        about="vectors of words, from running text",
    ),
    "entities": Task(
        task="regard.tasks.entities:EntitiesTask",
        tokenizers="regard.tasks.fields:Fields",
        validate="regard.evaluation.entities:validate",
        evaluate="regard.evaluation.entities:evaluate",
        verbs="regard.tasks.predictor:Predictor",
        about="scenes: a class or a number, of each entity or of the whole",
        of_text=False,
    ),
}


def find(reference: str) -> Any:
    """The object that "package.module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def model_names(task: str) -> list[str]:
    """The models that serve a task, the usual one first."""
    return [name for name, tasks in MODELS.items() if task in tasks]


def model_entry(name: str, task: str) -> Model:
    """The model of that name, if it serves the task."""
    serving = model_names(task)
    if name not in serving:
        raise ConfigError(f"There is no model {name!r} for the task {task}.", do=nearest(name, serving))
    return MODELS[name][task]


def task_entry(name: str) -> Task:
    """The task of that name."""
    if name not in TASKS:
        raise ConfigError(f"There is no task {name!r}.", do=nearest(name, TASKS))
    return TASKS[name]


def preset(entry: Model, name: object) -> dict[str, Any]:
    """The settings of a preset; the first one if none is named."""
    return dict(find(entry.presets)[_preset_name(entry, name)])


def brought(entry: Model, name: object) -> Tree:
    """What that preset sets besides: settings of other sections."""
    return dict(entry.brings.get(_preset_name(entry, name), {}))


def _preset_name(entry: Model, name: object) -> str:
    name = entry.preset_names[0] if name is None else str(name)
    if name not in entry.preset_names:
        raise ConfigError(f"There is no preset {name!r}.", do=nearest(name, entry.preset_names))
    return name
