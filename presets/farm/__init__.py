# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs for farms: files that other programs read."""

from pathlib import Path

FLAMENCO = Path(__file__).with_name("taffeta_wedges.js")  # a job type of Flamenco 3
OPENJD = Path(__file__).with_name("taffeta_wedges.yaml")  # an Open Job Description template
