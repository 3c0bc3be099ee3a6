# SPDX-License-Identifier: GPL-3.0-or-later
"""Four numbers at once: a vector in space and one number more, as one value of a kernel.

A processor adds and multiplies four numbers in the time of one, but a compiler hardly ever finds them in code that
spells out x, y and z. A `Vec4` says so. Arrays of them are (n, 4) and float64; of what is a vector only, the fourth number
is 0. Products and the sums they go into are rounded once, as in `jit.fused`.

    d = load(p, i) - load(p, j)
    store(q, i, a * d + dot(h, d) * h)      # a: a Vec4 with the same number four times, see `broadcast`
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from .jit import fused_inner

LANES = 4


class _Vec4Type(types.Type):
    def __init__(self):
        super().__init__(name="Vec4")


vec4_type = _Vec4Type()
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FUSED = ("contract",)


@register_model(_Vec4Type)
class _Vec4Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def _operator(which, instruction):
    """Teach kernels what + - * means between two Vec4s."""

    class Signatures(ConcreteTemplate):
        cases = [signature(vec4_type, vec4_type, vec4_type)]

    def code(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=_FUSED)

    infer_global(which)(Signatures)
    lower_builtin(which, vec4_type, vec4_type)(code)


for _which, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _operator(_which, _instruction)


def _row(context, builder, kind, array, i):
    """Pointer to the four numbers of row i."""
    data = context.make_array(kind)(context, builder, array).data
    four = context.get_constant(types.intp, LANES)
    return builder.bitcast(builder.gep(data, [builder.mul(i, four)]), _VECTOR.as_pointer())


def _shuffled(builder, one, places):
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(places)))


@intrinsic
def load(typing, array, i):
    """Row i of an (n, 4) array."""

    def code(context, builder, signature, arguments):
        found = builder.load(_row(context, builder, signature.args[0], *arguments))
        found.align = 8
        return found

    return vec4_type(array, types.uintp), code


@intrinsic
def store(typing, array, i, value):
    """Write row i of an (n, 4) array."""

    def code(context, builder, signature, arguments):
        array, i, value = arguments
        builder.store(value, _row(context, builder, signature.args[0], array, i), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uintp, vec4_type), code


@intrinsic
def vec4(typing, x, y, z, w):
    """Four numbers as one."""

    def code(context, builder, signature, arguments):
        made = ir.Constant(_VECTOR, ir.Undefined)
        for place, number in enumerate(arguments):
            made = builder.insert_element(made, number, ir.Constant(ir.IntType(32), place))
        return made

    return vec4_type(types.float64, types.float64, types.float64, types.float64), code


@intrinsic
def broadcast(typing, number):
    """A number four times."""

    def code(context, builder, signature, arguments):
        made = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0))
        return _shuffled(builder, made, (0, 0, 0, 0))

    return vec4_type(types.float64), code


@intrinsic
def broadcast_lane(typing, one, place):
    """Number `place` (a literal) of a Vec4, four times."""
    if not isinstance(place, types.IntegerLiteral):
        return None
    at = place.literal_value

    def code(context, builder, signature, arguments):
        return _shuffled(builder, arguments[0], (at,) * LANES)

    return vec4_type(vec4_type, place), code


@intrinsic
def lane(typing, one, place):
    """Number `place` (a literal) of a Vec4."""
    if not isinstance(place, types.IntegerLiteral):
        return None
    at = place.literal_value

    def code(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), at))

    return types.float64(vec4_type, place), code


@intrinsic
def dot(typing, one, other):
    """Sum of the products of all four, four times."""

    def code(context, builder, signature, arguments):
        product = builder.fmul(*arguments, flags=_FUSED)
        half = builder.fadd(product, _shuffled(builder, product, (2, 3, 0, 1)), flags=_FUSED)
        return builder.fadd(half, _shuffled(builder, half, (1, 0, 3, 2)), flags=_FUSED)

    return vec4_type(vec4_type, vec4_type), code


@intrinsic
def cross(typing, one, other):
    """Vector product of two whose last number is 0."""

    def code(context, builder, signature, arguments):
        one, other = arguments
        ahead = builder.fmul(one, _shuffled(builder, other, (1, 2, 0, 3)), flags=_FUSED)
        behind = builder.fmul(_shuffled(builder, one, (1, 2, 0, 3)), other, flags=_FUSED)
        return _shuffled(builder, builder.fsub(ahead, behind, flags=_FUSED), (1, 2, 0, 3))

    return vec4_type(vec4_type, vec4_type), code


@fused_inner
def xyz(one):
    """A Vec4 with a 0 as its last number."""
    return one * vec4(1.0, 1.0, 1.0, 0.0)


@fused_inner
def sum_xyz(one):
    """Sum of a Vec4's first three numbers."""
    return lane(one, 0) + lane(one, 1) + lane(one, 2)
