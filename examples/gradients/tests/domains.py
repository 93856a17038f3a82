"""The values for which gradients are checked, for operators whose schemas do not say enough."""

from __future__ import annotations

from typing import Any

from opgen.gradtest import Domain, Draw, between


def tokens(draw: Draw) -> dict[str, Any]:
    count, half, places = draw.integer(1, 3), draw.integer(1, 2), draw.integer(1, 4)
    return {
        "query": draw.tensor(count, draw.integer(1, 2), 2 * half),
        "key": draw.tensor(count, 1, 2 * half),
        "positions": draw.integers(count, below=places),
        "cos_sin_cache": draw.tensor(places, 2 * half),
    }


def images(draw: Draw) -> dict[str, Any]:
    images, regions = draw.integer(1, 2), draw.integer(1, 2)
    rois = draw.tensor(regions, 5, low=0, high=4)
    rois[:, 0] = draw.integers(regions, below=images).to(rois.dtype)
    size = {"height": draw.integer(1, 4), "width": draw.integer(1, 3)}
    pooled = {name: draw.integer(1, 2) for name in ("pooled_height", "pooled_width")}
    ratio = {"sampling_ratio": draw.integer(1, 2), "spatial_scale": draw.choice((1.0, 0.5))}
    return {
        "input": draw.tensor(images, 1, *size.values()),
        "grad_output": draw.tensor(regions, 1, *pooled.values()),
        "rois": rois,
        "batch": images,
        "channels": 1,
        **size,
        **pooled,
        **ratio,
    }


def filtered(draw: Draw) -> dict[str, Any]:
    sizes = draw.choice(((5,), (1,), (2, 3)))
    return {"input": draw.tensor(*sizes), "b": draw.tensor(3), "a": draw.tensor(2)}


DOMAINS = {
    "graded::rms_norm": Domain(eps=between(1e-3, 1.0)),
    "graded::rotary_embedding": Domain(make=tokens),
    "graded::roi_align": Domain(make=images),
    "graded::roi_align_backward": Domain(make=images),
    "graded::biquad": Domain(make=filtered),
    "graded::main_diagonal": Domain(batched=False, why="vmap has no rule for a library's views"),
}
