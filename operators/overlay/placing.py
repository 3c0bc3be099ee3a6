# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in a viewport the legend stands free of what Blender lays over it: brushes, toolbar, last operation."""

GAP = 12  # points between the legend and what is beside or below it
UNDER_BRUSHES = 60  # points from the lower edge where nothing is in the way
BELOW = frozenset(("ASSET_SHELF", "ASSET_SHELF_HEADER", "HEADER", "TOOL_HEADER", "FOOTER"))
LEFT = frozenset(("TOOLS", "HUD"))


def free_corner(regions, window, unit: float, height: float) -> tuple[float, float]:
    """Pixels (x, y) within the region `window` of the lower left corner of a free place `height` pixels high.

    regions : those of the editor, with type, x, y, width and height in pixels of the screen; hidden ones have width 1.
    """
    shown = [region for region in regions if region.width > 1 and region.height > 1]
    half = window.y + 0.5 * window.height
    low = UNDER_BRUSHES * unit
    for region in shown:
        top = region.y + region.height
        if region.type in BELOW and top < half:  # headers may be at the upper edge, or not over the window at all
            low = max(low, top - window.y + (GAP + 16) * unit)  # the numbers stand below the ramp
    left = UNDER_BRUSHES * unit
    for region in shown:
        over = region.y < window.y + low + height and region.y + region.height > window.y + low - 16 * unit
        if region.type in LEFT and over and region.x < window.x + 0.5 * window.width:
            left = max(left, region.x + region.width - window.x + GAP * unit)
    return left, low
