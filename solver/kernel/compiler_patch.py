# SPDX-License-Identifier: GPL-3.0-or-later
"""numba's compiler made quicker, for processes that do nothing but compile (`precompile`): the same code in two thirds of the time.

For every `a + b` and `x[i]` in a kernel, numba asks each of a dozen templates, and those compare its flags in Python,
before it knows that two floats make a float. Here it is asked once for each operator and kinds of operands. Where a
later numba is built otherwise, nothing is changed.
"""

import gc

PLACE_OPERATORS = "getitem", "setitem"  # operators whose first operand may be an array


def quicken() -> None:
    """Change this process's numba; not for a process that others share, as Blender is."""
    from numba.core import ir, types
    from numba.core.types.functions import BaseFunction

    gc.disable()  # millions of small objects, hardly any in circles
    # numba writes every kernel out for a log that nobody reads.
    if hasattr(ir.FunctionIR, "dump_to_string"):
        ir.FunctionIR.dump_to_string = lambda self: ""
    if walk := getattr(ir.Inst, "_rec_list_vars", None):
        ends = {str, int, float, bool, type(None), ir.Loc}  # most of what it walks over

        def list_variables(self, value):
            kind = type(value)
            return [] if kind in ends else [value] if kind is ir.Var else walk(self, value)

        ir.Inst._rec_list_vars = list_variables
    ask = getattr(BaseFunction, "get_call_type", None)
    if ask is None:
        return
    scalars = types.Number, types.Boolean

    def is_plain(operator, operands) -> bool:
        """Whether numba answers by fixed rules: numbers, and numbers at places of arrays."""
        if getattr(operator, "__module__", "") != "_operator":
            return False
        at_place = operator.__name__ in PLACE_OPERATORS and operands and isinstance(operands[0], types.Array)
        indices = operands[1:] if at_place else operands
        return all(isinstance(i, scalars) or at_place and _is_index(i, types) for i in indices)

    def get_call_type(self, context, args, kws):
        if kws or not is_plain(self.typing_key, args):
            return ask(self, context, args, kws)
        answers = self.__dict__.setdefault("_taffeta_answers", {})
        key = id(context), len(self.templates), tuple(args)
        if key not in answers:
            answers[key] = ask(self, context, args, kws)
        return answers[key]

    BaseFunction.get_call_type = get_call_type


def _is_index(kind, types) -> bool:
    """Whether this is the type of a place in an array of several dimensions."""
    return isinstance(kind, types.BaseTuple) and all(isinstance(i, types.Integer) for i in kind)
