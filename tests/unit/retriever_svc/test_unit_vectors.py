"""The last door for vectors: whatever bits come, only finite unit rows pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chassis.errors import InvalidArgument
from retriever_svc.documents import FloatMatrix
from retriever_svc.unit_vectors import unit_rows

bit_patterns = arrays(np.uint32, st.tuples(st.integers(1, 6), st.integers(1, 5)))


@given(bit_patterns)
def test_any_bits_become_unit_rows_or_are_refused(
    bits: "np.ndarray[tuple[int, int], np.dtype[np.uint32]]",
) -> None:
    """A matrix passes exactly if all its rows are finite and not zero; then norms are 1."""
    matrix: FloatMatrix = bits.view(np.float32)
    sound = np.isfinite(matrix).all(axis=1) & (matrix != 0).any(axis=1)
    names = [f"row-{row}" for row in range(len(matrix))]
    if sound.all():
        rows = unit_rows(matrix, names, "space")
        assert rows.dtype == np.float32
        assert rows.flags.c_contiguous
        assert np.linalg.norm(rows.astype(np.float64), axis=1) == pytest.approx(1, abs=1e-6)
    else:
        with pytest.raises(InvalidArgument, match=f"row-{int(np.argmin(sound))} "):
            unit_rows(matrix, names, "space")


@pytest.mark.parametrize("size", [1e-45, 1e-30, 1.0, 3e38])
def test_tiny_and_huge_rows_keep_their_direction(size: float) -> None:
    """Neither squares that vanish nor squares that overflow spoil a row."""
    rows = unit_rows(np.array([[size, 0, 0]], np.float32), ["x"], "space")

    assert rows.tolist() == [[1, 0, 0]]
