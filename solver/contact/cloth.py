# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls three functions (being written; these are their signatures):

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, x, v, dt) -> bool    at the start of every substep: False asks for a new `detect`
    respond(pairs, cloth, x, x_prev, dt) -> int   each substep after the constraints; x and x_prev change in place,
                                                  returns how many pairs touched

`respond` moves x to end the approach and, where cloth was too close already at the start of the substep, x and x_prev
alike, so that being pushed apart gives no speed.
"""
