"""What opgen verify needs to know about the operators of torchaudio: which of their arguments belong together.

opgen verify --torch-namespace torchaudio --load torchaudio --domains torchaudio_domains.py
"""

from opgen.verify import Domain


def overdrive(draw):
    """Two signals of each channel, and its last elements."""
    channels, count = draw.integer(1, 3), draw.integer(1, 6)
    made = {name: draw.tensor(channels, count) for name in ("waveform", "temp", "output_waveform")}
    return made | {name: draw.tensor(channels) for name in ("last_in", "last_out")}


def filtering(draw):
    """The result is longer than the signal, by one less than the number of coefficients."""
    batch, channels, count = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 6)
    order = draw.integer(2, 4)
    return {
        "input_signal_windows": draw.tensor(batch, channels, count),
        "a_coeff_flipped": draw.tensor(channels, order, low=0.2, high=0.8),
        "padded_output_waveform": draw.tensor(batch, channels, count + order - 1),
    }


def transducer(draw):
    """Scores for each step, number of labels and label; 0 is the blank. One sequence has all steps and labels."""
    batch, steps, labels, classes = (draw.integer(1, n) for n in (2, 4, 3, 5))
    classes += 1
    return {
        "logits": draw.tensor(batch, steps, labels + 1, classes),
        "targets": draw.integers(batch, labels, below=classes, low=1).astype("int32"),
        "logit_lengths": draw.integers(batch, below=steps + 1, low=steps).astype("int32"),
        "target_lengths": draw.integers(batch, below=labels + 1, low=labels).astype("int32"),
        "blank": 0,
        "clamp": draw.choice([-1.0, 0.5]),
    }


def alignment(draw):
    """One sequence of scores; a label that is repeated needs a blank in between."""
    labels, classes = draw.integer(1, 3), draw.integer(2, 4)
    steps = 2 * labels + draw.integer(0, 2)
    return {
        "log_probs": draw.tensor(1, steps, classes, low=-3, high=-0.1),
        "targets": draw.integers(1, labels, below=classes, low=1),
        "input_lengths": draw.integers(1, below=steps + 1, low=steps),
        "target_lengths": draw.integers(1, below=labels + 1, low=labels),
        "blank": 0,
    }


def _domain(make, **more):
    return Domain(make=make, why="signals, scores and lengths that belong together", **more)


DOMAINS = {
    "torchaudio::_overdrive_core_loop": _domain(overdrive),
    "torchaudio::_lfilter_core_loop": _domain(filtering),
    "torchaudio::rnnt_loss_forward": _domain(transducer),
    "torchaudio::forced_align": _domain(alignment),
}
