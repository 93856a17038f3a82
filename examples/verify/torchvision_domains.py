"""What opgen verify needs to know about the operators of torchvision: which of their arguments belong together.

opgen verify --torch-namespace torchvision --load torchvision --domains torchvision_domains.py
"""

from opgen.verify import Domain


def _boxes(draw, batch, height, width, scale):
    """Return rows of the number of an image, and a box in it."""
    rois = draw.tensor(draw.integer(1, 4), 5)
    for row in rois:
        left, top = draw.number(0, width / 2), draw.number(0, height / 2)
        row[0] = draw.integer(0, batch - 1)
        row[1:] = left / scale, top / scale, (left + 1.3) / scale, (top + 1.7) / scale
    return rois


def pooling(draw):
    """Images, boxes in them, and the size that each box is reduced to."""
    batch, channels = draw.integer(1, 2), draw.integer(1, 3)
    height, width = draw.integer(3, 6), draw.integer(3, 6)
    scale = draw.choice([1.0, 0.5])
    return {
        "input": draw.tensor(batch, channels, height, width),
        "rois": _boxes(draw, batch, height, width, scale),
        "spatial_scale": scale,
        "pooled_height": draw.integer(1, 3),
        "pooled_width": draw.integer(1, 3),
        "sampling_ratio": draw.integer(1, 2),
    }


def quantized_align(draw):
    """As for `pooling`, for one image."""
    made = pooling(draw)
    made["input"] = made["input"][:1]
    made["rois"][:, 0] = 0
    scales = {"input_scale": 0.5, "rois_scale": 0.5, "input_zero_point": 0, "rois_zero_point": 0}
    return made | scales


def position_sensitive(draw):
    """As for `pooling`; each place of the result has channels of its own."""
    made = pooling(draw)
    batch, channels, height, width = made["input"].shape
    parts = made["pooled_height"] * made["pooled_width"]
    made["input"] = draw.tensor(batch, channels * parts, height, width)
    return made


def _backward(draw, made, pooled):
    """Return arguments of a backward operator for those of the forward one; the result has `pooled` channels."""
    batch, channels, height, width = made.pop("input").shape
    shape = (len(made["rois"]), pooled, made["pooled_height"], made["pooled_width"])
    made |= {"grad": draw.tensor(*shape), "batch_size": batch, "channels": channels}
    return made | {"height": height, "width": width}


def align_backward(draw):
    made = pooling(draw)
    return _backward(draw, made, made["input"].shape[1])


def pool_backward(draw):
    """As for `align_backward`, with the place of the largest element in each image."""
    made = align_backward(draw)
    places = draw.integers(*made["grad"].shape, below=made["height"] * made["width"])
    return made | {"argmax": places.astype("int32")}


def sensitive_backward(draw):
    """Each element of `grad` has the number of the channel that it came from."""
    made = position_sensitive(draw)
    parts = made["pooled_height"] * made["pooled_width"]
    made = _backward(draw, made, made["input"].shape[1] // parts)
    channels = draw.integers(*made["grad"].shape, below=made["channels"])
    return made | {"channel_mapping": channels.astype("int32")}


def convolution(draw):
    """Sizes of a convolution, and two offsets and a weight for each place of its kernel and its result."""
    batch, groups, offsets = draw.integer(1, 2), draw.integer(1, 2), draw.integer(1, 2)
    stride, padding, dilation = draw.integer(1, 2), draw.integer(0, 1), draw.integer(1, 2)
    kernel, size = draw.integer(1, 2), draw.integer(4, 6)
    places = offsets * kernel * kernel
    reached = dilation * (kernel - 1) + 1
    result = (size + 2 * padding - reached) // stride + 1
    return {
        "input": draw.tensor(batch, 2 * groups, size, size),
        "weight": draw.tensor(2 * groups, 2, kernel, kernel),
        "offset": draw.tensor(batch, 2 * places, result, result, low=-1, high=1),
        "mask": draw.tensor(batch, places, result, result),
        "bias": draw.tensor(2 * groups),
        **dict.fromkeys(("stride_h", "stride_w"), stride),
        **dict.fromkeys(("pad_h", "pad_w"), padding),
        **dict.fromkeys(("dilation_h", "dilation_w"), dilation),
        "groups": groups,
        "offset_groups": offsets,
        "use_mask": draw.yes(),
    }


def convolution_backward(draw):
    made = convolution(draw)
    batch, _, rows, columns = made["offset"].shape
    return made | {"grad": draw.tensor(batch, len(made["weight"]), rows, columns)}


def suppression(draw):
    """Boxes with their scores, which differ: equal ones may come in any order."""
    count = draw.integer(1, 6)
    dets = draw.tensor(count, 4, low=0, high=5)
    dets[:, 2:] = dets[:, :2] + 1 + abs(dets[:, 2:])
    return {"dets": dets, "scores": draw.tensor(count, low=0, high=1), "iou_threshold": 0.4}


def rotated(draw):
    """Boxes with their centres, sizes and angles."""
    return {
        name: draw.tensor(draw.integer(1, 4), 5, low=0.5, high=4) for name in ("boxes1", "boxes2")
    }


def _domain(make, **more):
    return Domain(make=make, why="boxes in images, and sizes that belong together", **more)


DOMAINS = {
    "torchvision::roi_pool": _domain(pooling, non_differentiable=["rois"]),
    "torchvision::roi_align": _domain(pooling, non_differentiable=["rois"]),
    "torchvision::ps_roi_pool": _domain(position_sensitive, non_differentiable=["rois"]),
    "torchvision::ps_roi_align": _domain(position_sensitive, non_differentiable=["rois"]),
    "torchvision::_roi_pool_backward": _domain(pool_backward),
    "torchvision::_roi_align_backward": _domain(align_backward),
    "torchvision::_ps_roi_pool_backward": _domain(sensitive_backward),
    "torchvision::_ps_roi_align_backward": _domain(sensitive_backward),
    "torchvision::deform_conv2d": _domain(convolution),
    "torchvision::_deform_conv2d_backward": _domain(convolution_backward),
    "torchvision::nms": _domain(suppression),
    "torchvision::qnms": _domain(suppression),
    "torchvision::qroi_align": _domain(quantized_align),
    "torchvision::box_iou_rotated": _domain(rotated),
}
