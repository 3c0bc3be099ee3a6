# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator presses: a verb a file here, and the rooms behind them. Each uses only those before it.

    read/       the border: Blender's data become arrays here, and arrays Blender's data, and nowhere else
    playback/   where bakes lie on the disk, and the modifier that plays them
    checks/     what is wrong or doubtful before a bake, and what was changed since
    bake/       what is to be baked, the job that simulates, and how it runs
    live/       the simulation that follows the timeline
    overlay/    values on a garment as colours in the viewport
    drape/      the simulation at a stopped frame, under the animator's hands
    work/       what takes longer than a moment, in steps beside the window

Only the main thread touches Blender. A worker thread is given plain arrays and a `bake.job.Job`, never an object, a
scene or an operator. Objects are kept by their session uid and found again, because an undo replaces them.
"""

from . import (
    arrange,
    attach,
    bake_cloth,
    bakes,
    cage,
    cage_refine,
    command,
    convert,
    correct,
    drape_cloth,
    elastic,
    export,
    fabric_assets,
    fabric_drop,
    fit,
    fix,
    free,
    import_pattern,
    keep_pose,
    modulus,
    overrides,
    paint,
    play_live,
    pleat,
    preflight,
    preset,
    push_out,
    report_show,
    scene_file,
    scenes,
    sequence,
    setup,
    sew,
    show_bake,
    show_values,
    smooth,
    stop,
    take_apart,
    takes,
    tear,
    trim,
    untangle,
    value_images,
    values,
    wedge_adopt,
    wedges,
    zip_up,
)
from .checks import problem_list
from .drape import session
from .live import simulation
from .overlay import marks, pictures, timeline
from .playback import cache_modifier, correction_files, owners
from .read import measures, sewing_switch

# In the order of registration; undone in reverse.
SUBMODULES = (
    overrides, owners, cache_modifier, correction_files, sequence, measures, problem_list, preflight, report_show, fit, modulus, attach, trim, cage, cage_refine, fix, free, bakes, export, setup, convert, preset,
    fabric_assets, fabric_drop, paint, pictures, marks, show_values, timeline, scenes, scene_file, show_bake, untangle, bake_cloth, takes, wedges, wedge_adopt, simulation, session,
    play_live, drape_cloth, stop,
    keep_pose, correct, push_out, smooth, take_apart, values, value_images, sewing_switch, sew, tear, zip_up, pleat, elastic, import_pattern, arrange, command,
)  # fmt: skip


def register():
    """Register every submodule in order; a failure raises."""
    for module in SUBMODULES:
        module.register()


def unregister():
    """Undo `register` in reverse order."""
    for module in reversed(SUBMODULES):
        module.unregister()
