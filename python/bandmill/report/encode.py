"""Large arrays as text: 16-bit codes, differences between neighbours, deflate, base64. page.js undoes it.

Code 0 is NaN, code 1 is zero on a logarithmic scale, and code c above that is low + (c - 2) step, or its power of ten.
Whole numbers are kept exactly; of other values the error is at most step / 2.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

FIRST = 2  # the lowest code of a value


def bits_for(values: int) -> int:
    """Of a code, so that a page stays at a few MB: a 768 x 768 map with its features is about 12 million values."""
    return 16 if values <= 2_000_000 else 12 if values <= 40_000_000 else 10


def is_wide(values: np.ndarray) -> bool:
    """Never negative, and spread over more than three decades: such values are looked at on a logarithmic scale."""
    positive = values[values > 0]
    return bool(positive.size and (values >= 0).all() and positive.max() > 1000 * positive.min())


def deflated(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def packed(array: Any, bits: int = 16) -> dict[str, Any]:
    values = np.asarray(array, dtype=np.float64)
    known = np.isfinite(values)
    finite = values[known]
    whole = bool((finite == np.rint(finite)).all()) and (finite.size == 0 or np.ptp(finite) < 2**16 - FIRST)
    wide = not whole and is_wide(finite)
    if wide:
        known = known & (values > 0)
        finite = np.log10(values[known])
    low = float(finite.min()) if finite.size else 0.0
    spread = float(np.ptp(finite)) if finite.size else 0.0
    step = 1.0 if whole or spread == 0 else spread / (2**bits - 1 - FIRST)
    codes = np.zeros(values.shape, dtype=np.uint16)
    codes[known] = FIRST + np.rint((finite - low) / step).astype(np.uint16)
    if wide:
        codes[values == 0] = 1
    return {"shape": list(values.shape), "wide": wide, "low": low, "step": step, "data": deflated(shuffled(codes))}


def shuffled(codes: np.ndarray) -> bytes:
    """Differences along the last axis, with their sign in the lowest bit; all low bytes, then all high bytes."""
    rows = codes.reshape(-1, codes.shape[-1] if codes.ndim else 1)
    change = rows.copy()
    change[:, 1:] -= rows[:, :-1]  # modulo 2^16, and so is what undoes it
    change[1:, 0] -= rows[:-1, 0]
    signed = change.view(np.int16)
    zigzag = ((signed << 1) ^ (signed >> 15)).view(np.uint16).astype("<u2")
    planes = zigzag.reshape(-1).view(np.uint8).reshape(-1, 2)
    return planes[:, 0].tobytes() + planes[:, 1].tobytes()
