"""The settings of a training run, and how they come together from presets, a file and the command line."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from regard import catalogue
from regard.config import Tree, merge, nearest
from regard.errors import ConfigError
from regard.sections import Section

Momentum = Annotated[float, Field(ge=0, lt=1)]


class TrainingConfig(Section):
    """How long, how fast, how often."""

    updates: int = Field(10_000, gt=0, description="changes of the weights")
    epochs: float = Field(0.0, ge=0, description="passes through the data instead of updates; saved as updates")
    learning_rate: float = Field(2e-3, gt=0, description="at its highest")
    schedule: Literal["inverse-sqrt", "linear", "cosine", "constant"] = Field(
        "linear", description="how the rate comes down"
    )
    final_rate: float = Field(0.0, ge=0, le=1, description="part of the rate that is left at the end")
    warmup: int = Field(400, gt=0, description="if not given: 400, or a fifth of the updates where that is less")
    betas: tuple[Momentum, Momentum] = Field((0.9, 0.98), description="Adam's")
    epsilon: float = Field(1e-9, gt=0, description="Adam's")
    weight_decay: float = Field(0.01, ge=0, description="AdamW's")
    clip: float = Field(1.0, ge=0, description="largest gradient norm; 0 does not clip")
    accumulate: int = Field(1, gt=0, description="parts a batch is computed in, to save memory; the update is the same")
    precision: Literal["float32", "bf16", "fp16"] = Field("float32", description="of products; weights stay float32")
    average: float = Field(0.999, ge=0, lt=1, description="moving average of the weights, used for scoring and saved")
    validate_every: int = Field(500, gt=0, description="updates")
    validate_sentences: int = Field(1000, gt=0, description="how many of them are scored at each validation")
    metric: str = Field("score", description="figure of the validation that the best model is chosen by, such as loss")
    patience: int = Field(0, ge=0, description="validations without a better one that end the training; 0: any number")
    save_every: int = Field(500, gt=0, description="updates")
    keep: int = Field(1, gt=0, description="how many checkpoints are kept, the last ones")
    average_last: int = Field(0, ge=0, description="checkpoints whose mean is tried as the final model; 0: none")
    log_every: int = Field(50, gt=0, description="updates")
    tensorboard: bool = Field(False, description="write what is logged as TensorBoard event files, too")
    threads: int = Field(0, ge=0, le=1024, description="0: as many as torch would take; the number is then saved")
    device: str = Field("auto", description="cpu, cuda, cuda:1 …; auto: a GPU if there is one")
    memory: float = Field(0.0, ge=0, description="gigabytes that batch.tokens=auto may fill; 0: what is free")

    @model_validator(mode="before")
    @classmethod
    def _short_runs_warm_up_fast(cls, values: Any) -> Any:
        updates = values.get("updates") if isinstance(values, dict) else None
        if isinstance(updates, int) and "warmup" not in values:
            return {**values, "warmup": min(400, max(1, updates // 5))}
        return values

    @model_validator(mode="after")
    def _checkpoints_suffice(self) -> "TrainingConfig":
        if self.average_last > self.keep:
            raise ValueError(f"average_last {self.average_last} needs as many checkpoints; keep is {self.keep}")
        return self

    @model_validator(mode="after")
    def _tensorboard_is_installed(self) -> "TrainingConfig":
        if self.tensorboard and find_spec("tensorboard") is None:
            raise ConfigError(
                "training.tensorboard=true needs a package that is not installed.",
                do="pip install 'regard[track]', or go on with training.tensorboard=false",
            )
        return self

    @model_validator(mode="after")
    def _rate_has_an_end(self) -> "TrainingConfig":
        if self.final_rate and self.schedule not in ("linear", "cosine"):
            raise ValueError(f"final_rate is for the schedules linear and cosine; {self.schedule} has no end")
        return self

    @model_validator(mode="after")
    def _warmup_fits(self) -> "TrainingConfig":
        if self.schedule in ("linear", "cosine") and self.warmup >= self.updates and self.updates > 1:
            raise ValueError(
                f"warmup {self.warmup} is not less than updates {self.updates}: the learning rate would never come down"
            )
        return self


class DistributedConfig(Section):
    """Several processes on this machine. (On several machines: torchrun.)"""

    processes: Annotated[int, Field(gt=0, le=1024)] | Literal["auto"] = Field(
        1, description="auto: as many as are fastest with the cores that there are, by a short measurement"
    )


@dataclass(frozen=True)
class RunConfig:
    """Everything a run depends on. Same RunConfig, same data, same machine: same bytes."""

    task: str
    model_name: str
    model: Section
    settings: Section
    training: TrainingConfig
    distributed: DistributedConfig
    seed: int = 1
    init: str = ""
    """Directory of the trained model that the run begins with; none if empty."""

    def tree(self) -> Tree:
        """As it is saved."""
        return {
            "task": self.task,
            "seed": self.seed,
            "init": self.init,
            "model": {"name": self.model_name, **self.model.model_dump(mode="json")},
            **self.settings.model_dump(mode="json"),
            "training": self.training.model_dump(mode="json"),
            "distributed": self.distributed.model_dump(mode="json"),
        }


def resolve(tree: Tree) -> RunConfig:
    """The run that a tree of settings means. `model` holds "name", "preset" and the model's own keys."""
    tree = dict(tree)
    task = str(tree.pop("task", next(iter(catalogue.TASKS))))
    seed, init = _seed(tree.pop("seed", 1)), str(tree.pop("init", ""))
    task_class = catalogue.find(catalogue.task_entry(task).task)
    config_class = task_class.config_class
    model = _section(tree, "model")
    name = str(model.pop("name", catalogue.model_names(task)[0]))
    entry, preset = catalogue.model_entry(name, task), model.pop("preset", None)
    tree = merge(catalogue.brought(entry, preset), tree)
    tree = merge(getattr(task_class, "continued_settings", {}), tree) if init else tree
    model_class = catalogue.find(entry.config)
    _refuse_misplaced({"model": model} | tree, config_class, model_class)
    sizes = model_class.parse(merge(catalogue.preset(entry, preset), model), where="model")
    recipe = task_class.continued(sizes) if init else task_class.recipe
    training = _with_recipe(_section(tree, "training"), recipe)
    distributed = _section(tree, "distributed")
    _refuse_unknown(tree, config_class)
    return RunConfig(
        task=task,
        model_name=name,
        model=sizes,
        settings=config_class.parse(tree),
        training=TrainingConfig.parse(training, where="training"),
        distributed=DistributedConfig.parse(distributed, where="distributed"),
        seed=seed,
        init=init,
    )


def _with_recipe(training: Tree, recipe: Tree) -> Tree:
    """What the task trains well with, where nothing else is said."""
    if training.get("epochs") and "updates" in training:
        raise ConfigError("training.updates and training.epochs say the same thing.", do="give one of them")
    return {key: value for key, value in recipe.items() if key != "epochs" or "updates" not in training} | training


def _seed(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError("The seed cannot be used.", found=repr(value), wanted="a whole number from 0")
    return value


def _section(tree: Tree, name: str) -> Tree:
    value = tree.pop(name, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{name} is a section, not a value.", found=f"{name}={value}", do=f"write {name}.key=value")
    return dict(value)


def _refuse_misplaced(tree: Tree, config_class: type[Section], model_class: type[Section]) -> None:
    """What stands in one section and belongs into another is told where it belongs."""
    fields: dict[str, Any] = {"model": model_class, "training": TrainingConfig, "distributed": DistributedConfig}
    fields |= {name: field.annotation for name, field in config_class.model_fields.items()}
    known = {name: section.model_fields.keys() for name, section in fields.items()}
    homes = {key: f"{name}.{key}" for name, keys in known.items() for key in keys} | {"seed": "seed", "init": "init"}
    for name, keys in known.items():
        values = tree.get(name, {})
        for key in values if isinstance(values, dict) else ():
            if key not in keys and key in homes:
                raise ConfigError(f"There is no setting called {name}.{key}.", do=f"write {homes[key]}=…")


def _refuse_unknown(tree: Tree, config_class: type[Section]) -> None:
    known = {"task", "seed", "init", "model", "training", "distributed", *config_class.model_fields}
    for key in tree:
        if key not in known:
            raise ConfigError(f"There is no section called {key}.", do=nearest(key, known))
        if key in config_class.model_fields and not isinstance(tree[key], dict):
            raise ConfigError(f"{key} is a section, not a value.", do=f"write {key}.…=value")
