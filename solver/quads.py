# SPDX-License-Identifier: GPL-3.0-or-later
"""Four numbers at once: a vector in space and one number more, as one value of a kernel.

A processor adds and multiplies four numbers in the time of one, but a compiler hardly ever finds them in code that
spells out x, y and z. A `Quad` says so. Arrays of them are (n, 4) and float64; of what is a vector only, the fourth number
is 0. Products and the sums they go into are rounded once, as in `jit.fused`.

    d = load(p, i) - load(p, j)
    store(q, i, a * d + dot(h, d) * h)      # a: a Quad with the same number four times, see `spread`
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from .jit import fused_inner

WIDTH = 4


class _QuadType(types.Type):
    def __init__(self):
        super().__init__(name="Quad")


quad_type = _QuadType()
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_FUSED = ("contract",)


@register_model(_QuadType)
class _QuadModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def _operator(which, instruction):
    """Teach kernels what + - * means between two Quads."""

    class Signatures(ConcreteTemplate):
        cases = [signature(quad_type, quad_type, quad_type)]

    def code(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=_FUSED)

    infer_global(which)(Signatures)
    lower_builtin(which, quad_type, quad_type)(code)


for _which, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _operator(_which, _instruction)


def _row(context, builder, kind, array, i):
    """Pointer to the four numbers of row i."""
    data = context.make_array(kind)(context, builder, array).data
    four = context.get_constant(types.intp, WIDTH)
    return builder.bitcast(builder.gep(data, [builder.mul(i, four)]), _VECTOR.as_pointer())


def _shuffled(builder, one, places):
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), list(places)))


@intrinsic
def load(typing, array, i):
    """Row i of an (n, 4) array."""

    def code(context, builder, signature, arguments):
        found = builder.load(_row(context, builder, signature.args[0], *arguments))
        found.align = 8
        return found

    return quad_type(array, types.uintp), code


@intrinsic
def store(typing, array, i, value):
    """Write row i of an (n, 4) array."""

    def code(context, builder, signature, arguments):
        array, i, value = arguments
        builder.store(value, _row(context, builder, signature.args[0], array, i), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uintp, quad_type), code


@intrinsic
def quad(typing, x, y, z, w):
    """Four numbers as one."""

    def code(context, builder, signature, arguments):
        made = ir.Constant(_VECTOR, ir.Undefined)
        for place, number in enumerate(arguments):
            made = builder.insert_element(made, number, ir.Constant(ir.IntType(32), place))
        return made

    return quad_type(types.float64, types.float64, types.float64, types.float64), code


@intrinsic
def spread(typing, number):
    """A number four times."""

    def code(context, builder, signature, arguments):
        made = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0))
        return _shuffled(builder, made, (0, 0, 0, 0))

    return quad_type(types.float64), code


@intrinsic
def every(typing, one, place):
    """Number `place` (a literal) of a Quad, four times."""
    if not isinstance(place, types.IntegerLiteral):
        return None
    at = place.literal_value

    def code(context, builder, signature, arguments):
        return _shuffled(builder, arguments[0], (at,) * WIDTH)

    return quad_type(quad_type, place), code


@intrinsic
def part(typing, one, place):
    """Number `place` (a literal) of a Quad."""
    if not isinstance(place, types.IntegerLiteral):
        return None
    at = place.literal_value

    def code(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), at))

    return types.float64(quad_type, place), code


@intrinsic
def dot(typing, one, other):
    """Sum of the products of all four, four times."""

    def code(context, builder, signature, arguments):
        product = builder.fmul(*arguments, flags=_FUSED)
        half = builder.fadd(product, _shuffled(builder, product, (2, 3, 0, 1)), flags=_FUSED)
        return builder.fadd(half, _shuffled(builder, half, (1, 0, 3, 2)), flags=_FUSED)

    return quad_type(quad_type, quad_type), code


@fused_inner
def flat(one):
    """A Quad with a 0 as its last number."""
    return one * quad(1.0, 1.0, 1.0, 0.0)


@fused_inner
def total(one):
    """Sum of a Quad's first three numbers."""
    return part(one, 0) + part(one, 1) + part(one, 2)
