"""How functions of torch.nn.functional call operators: their arguments have another order, or strings in place of
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Arguments = tuple[Any, ...]


class Untranslatable(Exception):
    """A part of the input does not exist in the runtime, such as a sparse tensor; or no operator takes it."""


@dataclass(frozen=True, slots=True)
class Functional:
    """A function that calls `operator`, a path in the package, with `arguments(…)`."""

    operator: str
    arguments: Callable[..., Arguments]
    # op_db has a function that sets the seed first.
    seeded: bool = False

    def bind(self, operator: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with our operator."""

        def call(*args: Any, out: Any = None, **named: Any) -> Any:
            given = self.arguments(*args, **named)
            return operator(*given) if out is None else operator(*given, out=out)

        return call


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """Return the number of a reduction; the two flags are its older form."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return 0
        return 2 if size_average is False else 1
    numbers = {"none": 0, "mean": 1, "sum": 2}
    if reduction not in numbers:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return numbers[reduction]


def _loss(*names: str, before: int = 0) -> Callable[..., Arguments]:
    """Translate (input, target, *the first `before` names, size_average, reduce, reduction, *the other names) to
    (input, target, *the first names, reduction, *the other names). A name may have a default: "beta=1.0".
    """
    split = [name.partition("=") for name in names]
    defaults = {name: float(text) if text else None for name, _, text in split}
    order = [name for name, _, _ in split]
    positional = [*order[:before], "size_average", "reduce", "reduction", *order[before:]]

    def translate(input: Any, target: Any, *args: Any, **named: Any) -> Arguments:
        given = {**defaults, "size_average": None, "reduce": None, "reduction": "mean"}
        given |= dict(zip(positional, args)) | named
        number = _reduction(given["reduction"], given["size_average"], given["reduce"])
        first = [given[name] for name in order[:before]]
        return (input, target, *first, number, *(given[name] for name in order[before:]))

    return translate


def _unweighted(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Arguments:
    if weight is not None:
        raise Untranslatable
    return input, target, _reduction(reduction, size_average, reduce)


def _huber(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Arguments:
    if weight is not None:
        raise Untranslatable
    return input, target, _reduction(reduction), delta


def _classes(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    *smoothing: float,
    label_smoothing: float | None = None,
) -> Arguments:
    smoothing = smoothing if label_smoothing is None else (label_smoothing,)
    number = _reduction(reduction, size_average, reduce)
    return (input, target, weight, number, ignore_index, *smoothing)


def _with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Arguments:
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError("Target size must be the same as input size")
    return input, target, weight, pos_weight, _reduction(reduction, size_average, reduce)


def _probabilities(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Arguments:
    number = _reduction(reduction, size_average, reduce)
    if weight is not None:
        weight = weight.expand(tuple(target.shape))
    return input, target, weight, number


def _three(input1: Any, input2: Any, target: Any, margin: float = 0.0, **named: Any) -> Arguments:
    return input1, input2, target, margin, _reduction(named.pop("reduction", "mean"), **named)


def _poisson(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Arguments:
    return input, target, log_input, full, eps, _reduction(reduction, size_average, reduce)


def _triplet(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    **named: Any,
) -> Arguments:
    number = _reduction(named.pop("reduction", "mean"), **named)
    return anchor, positive, negative, margin, p, eps, swap, number


def _batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Arguments:
    sizes = tuple(input.shape)
    count = 1
    for size in (sizes[0], *sizes[2:]):
        count *= size
    if training and count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got {sizes}")
    return input, weight, bias, running_mean, running_var, training, momentum, eps, False


def _instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Arguments:
    sizes = tuple(input.shape)
    if use_input_stats:
        count = 1
        for size in sizes[2:]:
            count *= size
        if count == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got {sizes}")
    return input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False


def _group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Arguments:
    sizes = tuple(input.shape)
    count = sizes[0] * sizes[1] // num_groups if len(sizes) > 1 else 1
    for size in sizes[2:]:
        count *= size
    if len(sizes) > 1 and count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got {sizes}")
    return input, num_groups, weight, bias, eps, False


def _adaptive(input: Any, output_size: Any) -> Arguments:
    """A size of None is that of the input."""
    sizes = [output_size] * 2 if isinstance(output_size, int) else list(output_size)
    last = tuple(input.shape)[-2:]
    return input, [have if size is None else size for size, have in zip(sizes, last)]


def _pairs(value: Any, count: int) -> list[Any] | None:
    if value is None:
        return None
    return list(value) if isinstance(value, Sequence) else [value] * count


def _resampled(mode: str, align_corners: bool | None) -> Callable[..., Arguments]:
    """Translate the arguments of interpolate(), and of the older functions with one mode."""

    def translate(
        input: Any,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = mode,
        align_corners: bool | None = align_corners,
        recompute_scale_factor: bool | None = None,
        antialias: bool = False,
    ) -> Arguments:
        count = len(tuple(input.shape)) - 2
        if count != 2 or antialias:
            raise Untranslatable
        sizes, factors = _pairs(size, count), _pairs(scale_factor, count)
        if sizes is None and factors is not None and recompute_scale_factor:
            sizes = [int(have * by) for have, by in zip(tuple(input.shape)[2:], factors)]
            factors = None
        if mode == "nearest":
            return input, sizes, factors
        return input, sizes, bool(align_corners), factors

    return translate


def _one_flag(*names: str) -> Callable[..., Arguments]:
    """Translate (input, *names, inplace=False): only the call that is not in place."""

    def translate(input: Any, *args: Any, **named: Any) -> Arguments:
        given = dict(zip((*names, "inplace"), args)) | named
        if given.pop("inplace", False):
            raise Untranslatable
        return (input, *(given[name] for name in names if name in given))

    return translate


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Arguments:
    if dropout_p:
        raise Untranslatable  # The result is random.
    return query, key, value, attn_mask, dropout_p, is_causal


# By the name of the entry in op_db, with its variant if only that one has an operator.
FUNCTIONS: Mapping[str, Functional] = {
    "nn.functional.scaled_dot_product_attention": Functional(
        "nn.scaled_dot_product_attention", _attention, seeded=True
    ),
    "nn.functional.cross_entropy": Functional("nn.cross_entropy_loss", _classes),
    "nn.functional.nll_loss": Functional("nn.nll_loss_nd", _classes),
    "nn.functional.mse_loss": Functional("nn.mse_loss", _unweighted),
    "nn.functional.l1_loss": Functional("nn.l1_loss", _unweighted),
    "nn.functional.smooth_l1_loss": Functional("nn.smooth_l1_loss", _loss("beta=1.0")),
    "nn.functional.huber_loss": Functional("nn.huber_loss", _huber),
    "nn.functional.soft_margin_loss": Functional("nn.soft_margin_loss", _loss()),
    "nn.functional.binary_cross_entropy": Functional("nn.binary_cross_entropy", _probabilities),
    "nn.functional.binary_cross_entropy_with_logits": Functional(
        "binary_cross_entropy_with_logits", _with_logits
    ),
    "nn.functional.margin_ranking_loss": Functional("margin_ranking_loss", _three),
    "nn.functional.cosine_embedding_loss": Functional("cosine_embedding_loss", _three),
    "nn.functional.hinge_embedding_loss": Functional(
        "hinge_embedding_loss", _loss("margin=1.0", before=1)
    ),
    "nn.functional.poisson_nll_loss": Functional("poisson_nll_loss", _poisson),
    "nn.functional.triplet_margin_loss": Functional("triplet_margin_loss", _triplet),
    "nn.functional.batch_norm": Functional("batch_norm", _batch_norm),
    "nn.functional.instance_norm": Functional("instance_norm", _instance_norm),
    "nn.functional.group_norm": Functional("group_norm", _group_norm),
    "nn.functional.adaptive_avg_pool2d": Functional("nn.adaptive_avg_pool2d", _adaptive),
    "nn.functional.interpolate/nearest": Functional(
        "nn.upsample_nearest2d", _resampled("nearest", None)
    ),
    "nn.functional.interpolate/bilinear": Functional(
        "nn.upsample_bilinear2d", _resampled("bilinear", False)
    ),
    "nn.functional.upsample_nearest": Functional(
        "nn.upsample_nearest2d", _resampled("nearest", None)
    ),
    "nn.functional.upsample_bilinear": Functional(
        "nn.upsample_bilinear2d", _resampled("bilinear", True)
    ),
    "nn.functional.relu6": Functional("nn.relu6", _one_flag()),
    "nn.functional.selu": Functional("selu", _one_flag()),
    "nn.functional.celu": Functional("celu", _one_flag("alpha")),
    "nn.functional.hardsigmoid": Functional("nn.hardsigmoid", _one_flag()),
    "nn.functional.threshold": Functional("threshold", _one_flag("threshold", "value")),
    "nn.functional.glu": Functional("nn.glu", _one_flag("dim")),
}
