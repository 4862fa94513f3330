"""A recurrent network is trained word after word, attention all words at once.

Vaswani et al. 2017, section 1: recurrent models' "inherently sequential nature precludes parallelization within
training examples, which becomes critical at longer sequence lengths"; table 1 gives a recurrent layer O(n) sequential
operations and self-attention O(1).

Here both train on the same number of words, cut into one long or many short texts. Whoever can do all words at once
does not care how they are cut; whoever must wait for the word before does less and less at a time.

One thread is judged. What a second core adds depends on the machine and on who else uses it, so it is told and not
judged, and only where there is a second core. Told, too, is what a word costs where 32 long texts come at once: then
even the recurrent network has much to do at each step, and it should mind the length less.

A loop in Python is slow whatever it does, so torch's own GRU, whose loop is compiled, is judged, too, and the number is
that of the one which slows down less. This was added before the full run; the threshold stayed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regard.attention import look_ahead_mask
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.lab.timing import fastest
from regard.layers import Block, Encoder, Shape
from regard.report import Plot
from regard.seeds import derive
from regard.training.launch import cores

STATISTIC = (
    "By which factor the time per word of a recurrent network grows when the same 512 words come as one text instead "
    "of 32 texts, over the factor by which that of self-attention grows (one thread, forth and back). The "
    "smaller of two: that of regard's GRU, a loop over words in Python, and that of torch's."
)
THRESHOLD = 2.0
WORDS = LONG = 512
SHORT, WIDTH = 16, 128
THREADS, MANY = (1, 2), 32
"""How many threads, and how many long texts at once."""
Reader = Callable[[Tensor], Tensor]


class Recurrence(nn.Module):
    """A GRU over vectors (B T D)."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder("gru", inputs=WIDTH, width=WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.encoder(x, torch.full((len(x),), x.shape[1]))[0]
        return states


class Compiled(nn.Module):
    """torch's GRU over vectors (B T D): its loop over words costs no Python."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.gru(x)[0]
        return states


class Attention(nn.Module):
    """A block of the Transformer over vectors (B T D), of about the same size, which looks back as the GRU does."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Block(Shape(width=WIDTH, heads=4, hidden=WIDTH), name="reader")

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.block(x, mask=look_ahead_mask(x.shape[1]))[0]
        return states


class Cut(nn.Module):
    """The GRU again, but no text is longer than SHORT for it: it forgets what was before.

    It controls for all but the chain. The network, the words, the products and their number are those of the recurrent
    one, and attention's own growth is divided by in the same way; only no word waits for more than SHORT others. It
    works on the same rows whatever the length is, so that it should take equally long: if its number passed, too, then
    something else than the chain would make the recurrent one slow (the clock, the cutting, attention that speeds up).
    It cannot do what a recurrent network is for."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrence = Recurrence()

    def forward(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        states: Tensor = self.recurrence(x.reshape(rows * length // SHORT, SHORT, width))
        return states.reshape(rows, length, width)


RECURRENT, COMPILED, ATTENTION, CUT = (
    "recurrent", "recurrent, torch's", "self-attention", "recurrent, cut every 16 words",
)  # fmt: skip
READERS: dict[str, Callable[[], nn.Module]] = {
    RECURRENT: Recurrence, COMPILED: Compiled, ATTENTION: Attention, CUT: Cut,
}  # fmt: skip


def growth(seconds: Sequence[float]) -> float:
    """From the first length to the last."""
    return seconds[-1] / seconds[0]


def relative(seconds: Mapping[str, Sequence[float]], who: str) -> float:
    """How much more somebody slows down than attention does."""
    return growth(seconds[who]) / growth(seconds[ATTENTION])


def least(seconds: Mapping[str, Sequence[float]]) -> float:
    """The same for the recurrent network that slows down less."""
    return min(relative(seconds, RECURRENT), relative(seconds, COMPILED))


def measure(setting: Setting) -> Measured:
    lengths = setting.of((SHORT, 64, 256, LONG), (SHORT, 32, 64, 128, 256, LONG))
    found, many = {}, {}
    for threads in THREADS:
        with only(threads):
            found[threads] = {
                name: [trained(name, length, setting.seed, setting.of(10, 30)) for length in lengths]
                for name in READERS
            }
            many[threads] = {name: trained(name, LONG, setting.seed, setting.of(2, 5), MANY) for name in READERS}
    alone, together = (found[threads] for threads in THREADS)
    numbers = {
        **{f"microseconds a word, a text of {LONG} words, {name}, {threads} thread(s)": 1e6 * seconds[name][-1] / WORDS
           for threads, seconds in found.items() for name in READERS},
        **{f"slows down so many times as much as attention, {name}": relative(alone, name)
           for name in READERS if name != ATTENTION},
        **{f"microseconds a word, {MANY} texts of {LONG} words, {name}, {threads} thread(s)":
           1e6 * seconds[name] / (MANY * LONG) for threads, seconds in many.items() for name in READERS},
    }  # fmt: skip
    if cores() > 1:
        one_text = {name: alone[name][-1] / together[name][-1] for name in READERS}
        many_texts = {name: many[THREADS[0]][name] / many[THREADS[1]][name] for name in READERS}
        numbers |= {
            "the statistic with 2 threads": least(together),
            **{f"times as fast with a second core, one text, {name}": gain for name, gain in one_text.items()},
            **{f"times as fast with a second core, {MANY} texts, {name}": gain for name, gain in many_texts.items()},
        }
    series = {"lengths": list(lengths), **{
        str(threads): {name: [1e6 * one / WORDS for one in seconds[name]] for name in READERS}
        for threads, seconds in found.items()
    }}  # fmt: skip
    return Measured(least(alone), relative(alone, CUT), numbers, series)


def trained(name: str, length: int, seed: int, repeats: int, texts: int | None = None) -> float:
    """Seconds for one pass forth and back over so many texts of this length, as many as make WORDS if not said."""
    torch.manual_seed(derive(seed, "reader"))
    reader, words = READERS[name](), torch.randn(texts or WORDS // length, length, WIDTH)

    def work() -> None:
        reader.zero_grad()
        reader(words).sum().backward()

    return fastest(work, repeats)


@contextmanager
def only(threads: int) -> Iterator[None]:
    """Inside the `with` torch computes with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    lengths = [str(length) for length in measured[0].series["lengths"]]
    figures: list[Figure] = []
    for threads in map(str, THREADS):
        lines = [over_seeds(name, [one.series[threads][name] for one in measured]) for name in READERS]
        caption = f"Training on the same words with {threads} thread{'s' if threads != '1' else ''}."
        figures.append(Plot("lines", lengths, lines, "words of a text", "microseconds a word", caption))
    return figures


CLAIM = Claim(
    name="parallel",
    title="As texts grow longer, recurrent training slows down much more than attention",
    question="What does a word cost in training if texts are long, and what does a second core help?",
    source="Vaswani et al. 2017, sections 1 and 4",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="regard's recurrent network, which begins anew after every 16 words.",
    measure=measure,
    draw=draw,
    alone=True,
)
