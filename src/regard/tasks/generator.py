"""A language model: it continues texts, shows each choice, says what surprises it, and where it looks."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

from torch import nn

from regard.config import Tree
from regard.errors import ConfigError, LimitError
from regard.insight import Trace
from regard.layers.packed import OneRow, Packing, SomeRows
from regard.tasks.generation import Generation, Options
from regard.tasks.looking import Looking
from regard.tasks.surprisal import Surprisal, surprisals
from regard.tasks.texts import OneTokenizer
from regard.tasks.writing import Continuations, Prompt, Writer, WritingEngine
from regard.watching import Watch, unwatched

KEEP_THE_END = ", or let --truncate (truncate=True) keep its end"


class Stream:
    """The text of one continuation, piece by piece as it is chosen."""

    def __init__(self, continuation: Continuations, packing: Packing) -> None:
        self._continuation, self._pieces = continuation, _pieces(continuation, packing)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._pieces)

    @property
    def result(self) -> Generation:
        """All that is known of the text, as far as it has come."""
        return self._continuation.results()[0]


class Generator:
    """What `regard.load` gives for a language model: one of ours, or one that others have trained."""

    def __init__(self, model: nn.Module, tokenizers: OneTokenizer, *, language: str = "", name: str = "") -> None:
        self.model, self.tokenizers, self.language, self.name = model.eval(), tokenizers, language, name
        self.tokenizer = tokenizers.tokenizer
        self.engine: WritingEngine | None = None
        self._for_one, self._for_some = Packing(model, OneRow), Packing(model, SomeRows)

    @classmethod
    def assemble(cls, model: nn.Module, tokenizers: OneTokenizer, config: Tree, name: str) -> "Generator":
        """From the parts of a bundle."""
        return cls(model, tokenizers, language=config["data"].get("language", ""), name=name)

    def use(self, engine: WritingEngine | None) -> "Generator":
        """Lets another continue texts (see regard.engines); gives itself. None: torch, which can do all."""
        self.engine = engine
        return self

    @property
    def limit(self) -> int:
        """How many tokens it can look at."""
        config: Any = self.model.config
        return int(config.limit)

    @overload
    def generate(self, prompts: str, *, watch: Watch = ..., **how: Any) -> list[Generation]: ...
    @overload
    def generate(self, prompts: Sequence[str], *, watch: Watch = ..., **how: Any) -> list[list[Generation]]: ...
    def generate(
        self, prompts: str | Sequence[str], *, watch: Watch = unwatched, **how: Any
    ) -> list[Generation] | list[list[Generation]]:
        """`num` continuations of a prompt, or of each of several prompts; options as in `Options`. An empty prompt
        begins a new text. Where a text outgrows what the model can look at, its oldest tokens are forgotten."""
        if isinstance(prompts, str):
            return self.generate([prompts], watch=watch, **how)[0]
        options = Options(**how)
        writer, asked = Writer(self.model, self.tokenizer, options), self._prompts(prompts, options)
        found: list[list[Generation]] = [[] for _ in prompts]
        for place, texts in self._written(writer, asked, watch):
            found[place] += texts
        return found

    def stream(self, prompt: str, **how: Any) -> Stream:
        """The text that `generate` gives, in pieces, each as soon as it is chosen: never half a character, and nothing
        of a stop string."""
        options = Options(**how)
        if options.num > 1 or options.beam is not None:
            raise ConfigError(
                "Only one text can be streamed, and none that is searched for.",
                found=f"--num {options.num}" if options.num > 1 else f"--beam {options.beam}",
                do="leave out --stream, or this",
            )
        continuation = Continuations(Writer(self.model, self.tokenizer, options), self._prompts([prompt], options))
        return Stream(continuation, self._for_one)

    def explain(self, prompt: str, *, top: int = 5, **how: Any) -> Generation:
        """A continuation with its choices: each token with its probability, its rank and the likeliest `top`."""
        found: list[Generation] = self.generate(prompt, alternatives=top, **how)
        return found[0]

    @overload
    def surprisal(  # type: ignore[overload-overlap]  # a text is also a sequence of texts
        self, texts: str, *, stride: int | None = ..., watch: Watch = ...
    ) -> Surprisal: ...
    @overload
    def surprisal(self, texts: Sequence[str], *, stride: int | None = ..., watch: Watch = ...) -> list[Surprisal]: ...
    def surprisal(
        self, texts: str | Sequence[str], *, stride: int | None = None, watch: Watch = unwatched
    ) -> Surprisal | list[Surprisal]:
        """How many bits each token of a text, or of each of several texts, was worth, and its rank. stride: by how much
        the window moves over a text that is longer than the model can look at; by half of it, if none is given."""
        if isinstance(texts, str):
            return self.surprisal([texts], stride=stride, watch=watch)[0]
        return surprisals(self.model, self.tokenizer, texts, stride=stride, watch=watch)

    def attention(self, text: str, *, generate: int = 0, **how: Any) -> Trace:
        """Where every head of every layer looks in a text; or, with `generate`, where it looks while it chooses so many
        more tokens (options as in `Options`), one row of weights for each."""
        if self.engine is not None:
            self.engine.aside("attention")
        looking = Looking(self.model, self.tokenizer, self.language, self.name)
        if not generate:
            return looking.reading(text)
        options = Options(**how, max_new_tokens=generate)
        (prompt, *more) = self._prompts([text], options, or_else="")
        if more or options.beam is not None:
            raise ConfigError(
                "Only one text can be looked at, and none that is searched for.", do="leave out num and beam"
            )
        return looking.writing(Continuations(Writer(self.model, self.tokenizer, options), [prompt]))

    def unknown(self, text: str) -> list[str]:
        """What of a text the model has no token for."""
        if self.tokenizer.unknown == self.tokenizer.end:  # a tokenizer that knows everything
            return []
        lost = (text[p.start : p.end] for p in self.tokenizer.pieces(text) if p.id == self.tokenizer.unknown)
        return list(dict.fromkeys(lost))

    def _prompts(self, texts: Sequence[str], options: Options, or_else: str = KEEP_THE_END) -> list[Prompt]:
        """Each as often as it is continued (a search looks for all at once). or_else: what can be done with a long
        one, besides giving less of it."""
        encoded = self.tokenizer.encode_all(texts)
        for number, ids in enumerate(encoded, start=1):
            if len(ids) > self.limit and not options.truncate:
                raise LimitError(
                    f"{f'Prompt {number}' if len(texts) > 1 else 'The prompt'} is longer than the model can look at.",
                    found=f"{len(ids)} tokens",
                    wanted=f"at most {self.limit}",
                    do=f"give less of it{or_else}",
                )
        count = options.num if options.beam is None else 1
        return [
            prompt
            for place, (text, ids) in enumerate(zip(texts, encoded, strict=True))
            for prompt in Prompt.several(
                place, text, ids[-self.limit :] or [self.tokenizer.start], count, max(0, len(ids) - self.limit)
            )
        ]

    def _written(
        self, writer: Writer, prompts: Sequence[Prompt], watch: Watch
    ) -> Iterator[tuple[int, list[Generation]]]:
        """(place of a prompt, texts of it) as they are done."""
        elsewhere = None if self.engine is None else self.engine.continued(writer, prompts)
        if elsewhere is not None:
            for prompt, found in watch(elsewhere, total=len(prompts), what="writing"):
                yield prompt.place, [writer.generation(prompt, one) for one in found]
            return
        batches = writer.batches(prompts)
        rows = (writer.options.beam or 1) * max(map(len, batches), default=0)
        with (self._for_one if rows == 1 else self._for_some).used():
            yield from (self._searched if writer.options.beam is not None else self._continued)(writer, batches, watch)

    def _searched(
        self, writer: Writer, batches: list[list[Prompt]], watch: Watch
    ) -> Iterator[tuple[int, list[Generation]]]:
        for batch in watch(batches, total=len(batches), what="searching"):
            yield from zip((prompt.place for prompt in batch), writer.searched(batch), strict=True)

    def _continued(
        self, writer: Writer, batches: list[list[Prompt]], watch: Watch
    ) -> Iterator[tuple[int, list[Generation]]]:
        together = [Continuations(writer, batch) for batch in batches]
        steps = (step for batch in together for step in batch.steps())
        for _ in watch(steps, total=len(batches) * writer.options.max_new_tokens, what="writing"):
            pass
        for done in together:
            yield from ((prompt.place, [text]) for prompt, text in zip(done.prompts, done.results(), strict=True))


def _pieces(continuation: Continuations, packing: Packing) -> Iterator[str]:
    """Between two pieces the model is as it was: nobody knows who uses it then."""
    growing, steps = continuation.records[0].growing, continuation.steps()
    while True:
        with packing.used():
            step = next(steps, None)
        if step is None:
            return
        if piece := growing.news():
            yield piece
