# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers on a garment become colours: the part of the overlay that needs neither Blender nor a GPU.

Two ramps, both readable with any kind of colour blindness: dark blue to yellow for values (brightness rises
steadily, so that it reads in grey too), blue over white to orange for compressed and stretched: a diverging map, two hues
that darken evenly away from a neutral middle (Moreland 2009, Diverging Color Maps for Scientific Visualization).
"""

import numpy as np

from ...solver.geometry.strain import principal_strains

# Stations of the ramps, sRGB, equally spaced.
SEQUENTIAL = np.array(
    [(0.05, 0.08, 0.30), (0.18, 0.25, 0.50), (0.40, 0.42, 0.52), (0.66, 0.62, 0.44), (0.99, 0.91, 0.35)]
)
DIVERGING = np.array(
    [(0.05, 0.20, 0.55), (0.45, 0.62, 0.85), (0.94, 0.94, 0.94), (0.92, 0.62, 0.30), (0.65, 0.25, 0.00)]
)
STRETCH_RANGE = (-0.1, 0.1)  # of the stretch picture, fixed so that frames can be compared
PREFIXES = ((1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"))
PREFIXED = ("m", "N m")  # units that take a prefix well; 150 mkg/m² would help nobody


def ramp(stations: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Colours (n, 4) float32 RGBA at `share` (n,), 0 the first station and 1 the last; clipped to that."""
    share = np.clip(np.asarray(share, float), 0.0, 1.0)
    at = np.linspace(0.0, 1.0, len(stations))
    channels = [np.interp(share, at, stations[:, c]) for c in range(3)]
    return np.stack([*channels, np.ones_like(share)], axis=-1).astype(np.float32)


def colours(values: np.ndarray, low: float, high: float, stations: np.ndarray) -> np.ndarray:
    """Colours (n, 4) float32 of `values` (n,) between low and high; the middle of the ramp where these are equal."""
    span = high - low
    share = (np.asarray(values, float) - low) / span if span > 0.0 else np.full(np.shape(values), 0.5)
    return ramp(stations, share)


def lengths(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Edge lengths (e,) of x (n, 3) over edges (e, 2), in the unit of x."""
    return np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)


def vertex_strain(x: np.ndarray, rest: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Of each vertex (n,) the strain of largest size in the triangles (t, 3) around it, with its sign; 0 without triangles.

    A mean would tell nothing of cloth that one thread stretches and the other narrows.
    """
    strains, corners = principal_strains(x, rest, triangles), triangles.ravel()
    low, high = np.zeros(len(x)), np.zeros(len(x))
    np.minimum.at(low, corners, np.repeat(strains[:, 0], 3))
    np.maximum.at(high, corners, np.repeat(strains[:, 1], 3))
    return np.where(high >= -low, high, low)


def quantity(value: float, symbol: str) -> str:
    """A value as the legend shows it, three digits and the unit: 2 mm, 0.15 kg/m², 3650 N/m, 12.3 %."""
    if symbol == "%":
        value *= 100.0
    rounded = float(f"{value:.3g}")  # before the prefix is chosen: 999.9 mm is 1 m
    factor, prefix = 1.0, ""
    if symbol in PREFIXED and rounded != 0.0:
        factor, prefix = max((p for p in PREFIXES if p[0] <= abs(rounded) * (1 + 1e-9)), default=PREFIXES[0])
    return f"{rounded / factor:g} {prefix}{symbol}".rstrip()
