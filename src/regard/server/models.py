"""The models that are served: what they are called, what each can do, which one a request means.

A request names a model; that name is looked up here, and goes nowhere else.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from regard.errors import ConfigError
from regard.server.messages import Facts
from regard.server.metrics import Gauge, Metrics
from regard.server.refusals import RefusedError
from regard.server.settings import Settings
from regard.server.supervisor import Supervisor
from regard.text.detection import Profile, detect


class Models:
    """All of them, by name."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._supervisors = [Supervisor(place, settings, metrics) for place in settings.models]
        self._by_name: dict[str, Supervisor] = {}
        self._profiles: dict[str, Profile] = {}
        metrics.gauges += [
            Gauge("regard_waiting", "Texts that wait.", ("model",), lambda: self._figures("waiting")),
            Gauge("regard_running", "Texts that are computed.", ("model",), lambda: self._figures("running")),
            Gauge("regard_ready", "1 if the model is loaded.", ("model",), lambda: self._figures("ready")),
        ]

    async def start(self) -> None:
        """Loads all of them, at the same time."""
        await asyncio.gather(*(one.start() for one in self._supervisors))
        names = Counter(one.facts.name for one in self._supervisors)
        if twice := [name for name, count in names.items() if count > 1]:
            raise ConfigError(f"Two models are called {twice[0]}.", do="rename one of the directories")
        self._by_name = {one.facts.name: one for one in self._supervisors}
        for one in self._supervisors:
            self._profiles |= one.facts.profiles

    async def stop(self) -> None:
        await asyncio.gather(*(one.stop() for one in self._supervisors))

    def refuse_waiting(self) -> None:
        """The server is about to end: only what is being computed is finished."""
        for one in self._supervisors:
            one.refuse_waiting()

    @property
    def facts(self) -> list[Facts]:
        return [one.facts for one in self._supervisors]

    @property
    def ready(self) -> bool:
        """All are loaded and take requests."""
        return all(one.ready for one in self._supervisors)

    def named(self, name: str, verb: str) -> Supervisor:
        """The model of that name, if it has the verb."""
        found = self._by_name.get(name)
        able = self._able(verb)
        if found is None:
            what = f"There is no model {name[:80]!r}."
            raise RefusedError(404, what, wanted=_listed(able), code="model_not_found")
        if found not in able:
            raise RefusedError(400, f"{name} has no verb {verb}.", wanted=_listed(able), code="model_cannot")
        return found

    def meant(self, name: str | None, verb: str) -> Supervisor:
        """The same; where no name is given, the only model that has the verb."""
        if name is not None:
            return self.named(name, verb)
        able = self._able(verb)
        if len(able) != 1:
            what = f"No model has the verb {verb}." if not able else f"Several models have the verb {verb}."
            raise RefusedError(
                400, what, wanted=_listed(able), do="name one as model" if able else "", code="which_model"
            )
        return able[0]

    def translator(self, source: str, target: str) -> Supervisor:
        """The model from one language to another."""
        for one in self._able("translate"):
            if (source, target) in one.facts.pairs:
                return one
        known = ", ".join(f"{a} → {b}" for a, b in self.pairs) or "none"
        raise RefusedError(
            400, f"There is no model from {source[:20]!r} to {target[:20]!r}.", wanted=known, code="no_such_pair"
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What can be translated: from, to."""
        return [pair for one in self._supervisors for pair in one.facts.pairs]

    def detected(self, text: str, among: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """(language, confidence), the likeliest first, of those whose letters a model knows; among: only of these."""
        known: Mapping[str, Profile] = self._profiles
        if among is not None:
            known = {language: profile for language, profile in known.items() if language in among}
        return detect(text, known)

    def _able(self, verb: str) -> list[Supervisor]:
        return [one for one in self._supervisors if verb in one.facts.verbs]

    def _figures(self, figure: str) -> list[tuple[tuple[str, ...], float]]:
        return [((one.facts.name,), float(getattr(one, figure))) for one in self._supervisors]


def _listed(models: Sequence[Supervisor]) -> str:
    names = ", ".join(one.facts.name for one in models)
    return f"one of: {names}" if names else ""
