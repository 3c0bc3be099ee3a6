# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the viewport: a property's values, or the current stretch, as colours on the garment with a legend;
marks: pins, seams, shells, contacts. And the bar of baked frames in the timeline.

`pictures` and `marks` read the scene into arrays, `touching` finds contacts, `colours` and `shapes` make colours and shapes, `draw` and
`draw_marks` draw, `placing` knows where there is room; `timeline` has the bar.
"""
