# SPDX-License-Identifier: GPL-3.0-or-later
"""The viewport overlay: a property's values, or the current stretch, as colours on the garment with a legend.

`pictures` reads the scene into arrays, `colours` makes them colours, `draw` draws.
"""
