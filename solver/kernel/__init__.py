# SPDX-License-Identifier: GPL-3.0-or-later
"""What kernels are made with.

jit, compiler_patch            numba's flags and cache, and its compiler made quicker
threads, shared                threads that stand by, and ranges that they share in compiled code
phases, listed                 several ranges in one kernel; lists that all threads make; atomic: the counters of both
vec4, mat3, mat6, rounding     vectors and matrices as single values; bounds in single precision
rows, functions                what numpy does slowly, or differently from machine to machine
lookup, memory, memo           who belongs to what; arrays in one piece; answers that are remembered
stopwatch                      seconds by task
"""
