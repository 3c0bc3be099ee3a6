# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard, after which nothing has passed through anything: impact zones, clusters, pairs with bodies."""
