"""Sharding is by a stable hash of the root name: another operator moves nobody else."""

from __future__ import annotations

from pathlib import Path

from opgen.pipeline import Inputs
from opgen.views.shards import shard_of
from support.trees import make_tree


def test_the_hash_is_the_same_everywhere() -> None:
    assert [shard_of(name, 4) for name in ("add", "mul", "upsample_nearest1d")] == [
        shard_of(name, 4) for name in ("add", "mul", "upsample_nearest1d")
    ]
    spread = {shard_of(f"operator_{i}", 4) for i in range(100)}
    assert spread == {0, 1, 2, 3}


def test_another_operator_changes_one_shard(tmp_path: Path) -> None:
    def tree(count: int) -> dict[str, str]:
        yaml = tmp_path / "input.yaml"
        entries = (
            f"- func: op{i}(Tensor self) -> Tensor\n  dispatch:\n    CPU: op{i}_cpu\n"
            for i in range(count)
        )
        yaml.write_text("\n".join(entries))
        return dict(make_tree(Inputs((yaml,)), shards=4).files)

    before, after = tree(20), tree(21)
    for stem in ("src/RegisterCPU_", "src/Operators_"):
        shards = [path for path in after if path.startswith(stem)]
        assert len(shards) == 4
        assert sum(before[path] != after[path] for path in shards) == 1
