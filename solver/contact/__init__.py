# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: cloth with cloth, cloth with bodies, and the guard that has the last word.

frame                          the calls by which a substep enters this room, and leaves it
body/, brace                   cloth off bodies; how far what lies on them gives way to cloth
cloth/                         cloth off cloth
resolve, guard/                the rounds of a substep's end: response, then the guard, after which nothing has passed through
passing                        what passes through all the same where a frame ends, for the report
"""
