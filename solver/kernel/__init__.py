# SPDX-License-Identifier: GPL-3.0-or-later
"""What kernels are made with: numba's flags and cache, threads, vectors and matrices as single values."""
