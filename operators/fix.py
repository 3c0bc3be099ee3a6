# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of the preflight list: each mends one fault that a row tells of, and Undo takes it back."""

import bpy
from bpy.props import StringProperty
from mathutils import Matrix

from ..panels.translations import translated
from ..panels.units import length_text
from ..solver.cache import moves, wedge
from ..solver.cache.names import in_use
from .attach import forget_empty, tie
from .checks import problem_list
from .checks.maker_rows import obstacle
from .checks.scale_rows import distance_misfit
from .checks.shape_rows import DOUBLED_REACH
from .playback.bake_files import bake_paths, refuse_long, shown_frames, stored_path, strays
from .playback.cache_modifier import play_instead
from .playback.correction_files import are_temporary, astray, folder_beside, play_from
from .playback.owners import owner_in
from .read import cage as cages
from .read.attach import attach, carrier
from .read.correction import follow_cache
from .read.keyed import keyed
from .read.mesh_io import metres_per_unit
from .read.modifier_stack import lift_rebuilders, makers
from .read.participants import cloths_of, colliders_of, near_bodies, refuse_linked, refuse_mode
from .read.preroll import at_start
from .read.sampling import depsgraph_of
from .read.screen import refused
from .read.shape_key import refuse_shared
from .wedges import list_again

EARTH = 0.0, 0.0, -9.81  # [m/s2]


class Fix:
    """What the buttons have in common: an object's name, a report, and the list that is made anew."""

    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    is_of_scene = False  # whether no object is asked for

    object: StringProperty(name="Object", description="What is to be mended; empty where it is the scene")

    def execute(self, context):
        obj = context.scene.objects.get(self.object)
        try:
            if self.object and obj is None:
                raise ValueError(f"There is no {self.object} in the scene; press Check Before Baking again")
            if obj is None and not self.is_of_scene:
                raise ValueError("Say which object is to be mended: object='Name'")
            if obj is not None:
                refuse_linked(obj)
                refuse_mode(obj)
            self.report({"INFO"}, translated(self.mend(context, obj)))
        except (ValueError, OSError, RuntimeError) as error:  # RuntimeError is how Blender's operators report
            return refused(self, error)
        context.view_layer.update()
        if context.window_manager.taffeta.checked:
            problem_list.show(context.scene)
        return {"FINISHED"}


class TAFFETA_OT_fix_save(Fix, bpy.types.Operator):
    """Save the file, so that bakes lie beside it"""

    bl_idname = "taffeta.fix_save"
    bl_label = "Save the File"
    is_of_scene = True
    bl_options = {"REGISTER", "INTERNAL"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})

    def mend(self, context, obj):
        """A name is asked for where none is given."""
        if self.filepath:
            bpy.ops.wm.save_as_mainfile(filepath=self.filepath)
            return f"Saved as {bpy.data.filepath}"
        if bpy.app.background:
            raise ValueError("There is no window to ask for a name; give a filepath")
        bpy.ops.wm.save_as_mainfile("INVOKE_DEFAULT")
        return "Choose where to save"


class TAFFETA_OT_fix_temporary(Fix, bpy.types.Operator):
    """Copy the bake, with the older ones of the list, its corrections and wedges, to where bakes of this file lie, and play it
    from there"""

    bl_idname = "taffeta.fix_temporary"
    bl_label = "Bring It Beside the File"
    bl_description = " ".join(__doc__.split())

    def mend(self, context, obj):
        """What lies in the temporary folder stays there, so that nothing is lost, whatever ends it."""
        cloths = cloths_of(context.scene)
        source = strays([obj])[0]
        if (source is None and not are_temporary(obj)) or obj not in cloths:
            raise ValueError(f"{obj.name} plays no bake from a temporary folder; press Check Before Baking again")
        target = bake_paths(context.scene, cloths)[cloths.index(obj)]
        refuse_long(target)
        if source is not None:
            self._copy(obj, source, target)
        files = astray(context.scene, obj, target)
        places = {file: moves.bring_file(file, folder_beside(target)) for file in files}
        play_from(obj, places)
        if source is None:
            follow_cache(obj)
            return f"{obj.name} plays its corrections from {stored_path(folder_beside(target))} now; save the file to keep that"
        play_instead(obj, target, shown_frames(target).start)
        list_again(context)
        return f"{obj.name} plays its bake from {stored_path(target)} now; save the file to keep that"

    def _copy(self, obj, source, target):
        """The bake, the older ones and the wedges."""
        if in_use(source) or in_use(target):
            raise ValueError(f"{obj.name} is being baked; wait for that or press Stop first")
        older = moves.set_aside(target)
        try:
            if not moves.bring(source, target, owner_in(target.parent)):
                raise ValueError(f"{obj.name} has no whole frame in {source}; bake it again")
        finally:
            if older is not None:
                moves.put_back(older, target)  # only where nothing was brought
        wedge.bring(source, target, owner_in(target.parent))


class TAFFETA_OT_fix_scale(Fix, bpy.types.Operator):
    """Apply the object's own scale to its mesh: it looks the same, and its scale is 1"""

    bl_idname = "taffeta.fix_scale"
    bl_label = "Apply Scale"

    def mend(self, context, obj):
        """Children stay where they are; a mesh that was turned inside out is turned back."""
        refuse_shared(obj)
        if {"scale", "delta_scale"} & keyed(obj):
            raise ValueError(f"{obj.name} has an animated scale; remove its keys first")
        sides = Matrix.LocRotScale(None, None, [a * b for a, b in zip(obj.scale, obj.delta_scale, strict=True)])
        if not sides.determinant():
            raise ValueError(f"{obj.name} has a scale of 0; give it another one first")
        if tuple(obj.delta_scale) != (1.0, 1.0, 1.0) and any((*obj.rotation_euler, *obj.delta_rotation_euler)):
            raise ValueError(f"{obj.name} has a Delta Scale; clear that first")
        obj.data.transform(sides, shape_keys=True)
        if sides.determinant() < 0.0:
            obj.data.flip_normals()
        obj.data.update()
        obj.scale = obj.delta_scale = 1.0, 1.0, 1.0
        for child in obj.children:
            child.matrix_parent_inverse = sides @ child.matrix_parent_inverse
        return f"{obj.name} has its scale in its mesh now"


class TAFFETA_OT_fix_modifiers(Fix, bpy.types.Operator):
    """Move what changes the number of vertices below the rig and the cache, where it works on the simulated cloth"""

    bl_idname = "taffeta.fix_modifiers"
    bl_label = "Move Below"

    def mend(self, context, obj):
        """In the order that they have."""
        names = lift_rebuilders(obj)
        if not names:
            raise ValueError(f"{obj.name} has no modifier that stands too far up")
        return f"{', '.join(names)} of {obj.name} works on the simulated cloth now"


class TAFFETA_OT_fix_makers(Fix, bpy.types.Operator):
    """Apply the modifiers that make a part of the garment, as Mirror and Array do, so that all of it is simulated"""

    bl_idname = "taffeta.fix_makers"
    bl_label = "Apply What Makes It"

    def mend(self, context, obj):
        """In the order that they have; those that Blender cannot apply stay."""
        hindered = {maker.name: obstacle(obj, maker) for maker in makers(obj)}
        names = [name for name, remedy in hindered.items() if not remedy]
        if not hindered:
            raise ValueError(f"{obj.name} has no modifier that makes a part of it")
        if not names:
            raise ValueError(next(iter(hindered.values())))
        for name in names:
            with context.temp_override(object=obj, active_object=obj):
                bpy.ops.object.modifier_apply(modifier=name)
        return f"{', '.join(names)} of {obj.name} is applied: its mesh has {len(obj.data.vertices):,} vertices now"


class TAFFETA_OT_fix_cage(Fix, bpy.types.Operator):
    """Bind the garment to its cage as both are at rest now; the bake stays"""

    bl_idname = "taffeta.fix_cage"
    bl_label = "Bind to Cage Again"

    def mend(self, context, obj):
        """Where a mesh was edited."""
        cage = obj.taffeta_cage.cage
        if cage is None or cages.MODIFIER_NAME not in obj.modifiers:
            raise ValueError(f"{obj.name} follows no cage; press Check Before Baking again")
        cages.bind_to(obj, cage, cage.data)
        return f"{obj.name} follows {cage.name} again"


class TAFFETA_OT_fix_weld(Fix, bpy.types.Operator):
    """Simulate vertices that are doubled along seams as one; the mesh stays as it is"""

    bl_idname = "taffeta.fix_weld"
    bl_label = "Weld for Simulation"

    def mend(self, context, obj):
        """Of what lies on each other."""
        obj.taffeta_cloth.weld = DOUBLED_REACH
        return f"{obj.name} is simulated in one piece along its doubled vertices (More > Sewing and Size)"


class TAFFETA_OT_fix_aura(Fix, bpy.types.Operator):
    """Give the body the usual Distance, a shell that cloth is kept out of"""

    bl_idname = "taffeta.fix_aura"
    bl_label = "Give It a Distance"

    def mend(self, context, obj):
        """That of a new collider."""
        settings = obj.taffeta_collider
        settings.aura = settings.bl_rna.properties["aura"].default
        return f"{obj.name} has a Distance of {length_text(settings.aura)}"


class TAFFETA_OT_fix_distance(Fix, bpy.types.Operator):
    """Let cloth come as near to the body as fits the smallest garment that meets it"""

    bl_idname = "taffeta.fix_distance"
    bl_label = "Fit Its Distance"

    def mend(self, context, obj):
        """The largest that fits."""
        found = distance_misfit(context.scene, cloths_of(context.scene), obj)
        if found is None:
            raise ValueError(f"{obj.name} has a Distance that fits; nothing was changed")
        obj.taffeta_collider.aura = found.fitting
        return f"{obj.name} has a Distance of {length_text(found.fitting)}, for {found.garment}"


class TAFFETA_OT_fix_own_collider(Fix, bpy.types.Operator):
    """Take Taffeta Collider off a cloth; cloths collide with each other anyway"""

    bl_idname = "taffeta.fix_own_collider"
    bl_label = "Remove Its Collider"

    def mend(self, context, obj):
        """It stays cloth."""
        obj.taffeta_collider.enabled = False
        return f"{obj.name} is cloth alone"


class TAFFETA_OT_fix_colliders(Fix, bpy.types.Operator):
    """Make colliders of the meshes under and beside the cloth"""

    bl_idname = "taffeta.fix_colliders"
    bl_label = "Make Colliders of What Lies Below"
    is_of_scene = True

    def mend(self, context, obj):
        """All that are near."""
        found = near_bodies(context.scene, cloths_of(context.scene))
        if not found:
            raise ValueError("There is no mesh under or beside the cloth; add a body first")
        for body in found:
            body.taffeta_collider.enabled = True
        names = ", ".join(body.name for body in found)
        return f"Cloth is kept out of {names} now"


class TAFFETA_OT_fix_pins(Fix, bpy.types.Operator):
    """Let the garment follow the body that its pins lie on, as both are in the first frame"""

    bl_idname = "taffeta.fix_pins"
    bl_label = "Attach to the Body"

    def mend(self, context, obj):
        """By a parent, or by a modifier where the body bends; the pins alone where neither can be."""
        scene = context.scene
        with at_start(scene):
            body = carrier(obj, colliders_of(scene, cloths_of(scene)), depsgraph_of(scene))
            if body is None:
                raise ValueError(f"{obj.name} has no pins beside a body that moves in frame {scene.frame_start}")
            try:
                return attach(obj, body)
            except ValueError:  # it hangs on something else, or Blender cannot bind it to that mesh
                _, count = tie(scene, obj, body)
                forget_empty(obj)
                return f"{count} pinned vertices of {obj.name} are attached to {body.name}"


class TAFFETA_OT_fix_gravity(Fix, bpy.types.Operator):
    """Turn the scene's gravity on, as on earth where it was zero"""

    bl_idname = "taffeta.fix_gravity"
    bl_label = "Turn Gravity On"
    is_of_scene = True

    def mend(self, context, obj):
        """That of the scene, if it has one."""
        scene = context.scene
        scene.use_gravity = True
        if not any(scene.gravity):
            scene.gravity = [axis / metres_per_unit(scene) for axis in EARTH]
        return "Gravity is on"


class TAFFETA_OT_fix_gravity_scale(Fix, bpy.types.Operator):
    """Make gravity as strong as on Earth in the unit scale of the scene, in the direction that it has"""

    bl_idname = "taffeta.fix_gravity_scale"
    bl_label = "Set Gravity to 9.81 m/s²"
    is_of_scene = True

    def mend(self, context, obj):
        """A scene without any has none to make stronger."""
        scene = context.scene
        if not any(scene.gravity):
            raise ValueError(f"Scene {scene.name} has no gravity; type -9.81 into Scene tab, Gravity, Z")
        scene.gravity *= -EARTH[2] / (scene.gravity.length * metres_per_unit(scene))
        return "Gravity is as strong as on Earth"


class TAFFETA_OT_fix_remapping(Fix, bpy.types.Operator):
    """Let a frame be a frame: turn Time Stretching off"""

    bl_idname = "taffeta.fix_remapping"
    bl_label = "Turn Time Stretching Off"
    is_of_scene = True

    def mend(self, context, obj):
        """Old and New are the same then."""
        context.scene.render.frame_map_new = context.scene.render.frame_map_old
        return "Time Stretching is off"


class TAFFETA_OT_fix_dynamics(Fix, bpy.types.Operator):
    """Set Dynamics to Linearly Implicit, which is stable with any step"""

    bl_idname = "taffeta.fix_dynamics"
    bl_label = "Use Linearly Implicit"
    is_of_scene = True

    def mend(self, context, obj):
        """The rows that count steps are made anew."""
        settings = context.scene.taffeta
        settings.dynamics = settings.bl_rna.properties["dynamics"].default
        problem_list.check_thoroughly(context.scene)
        return "Dynamics is Linearly Implicit"


class TAFFETA_OT_fix_cloth_contact(Fix, bpy.types.Operator):
    """Set Cloth on Cloth to Pairs, by which nothing passes through"""

    bl_idname = "taffeta.fix_cloth_contact"
    bl_label = "Use Pairs"
    is_of_scene = True

    def mend(self, context, obj):
        """For all garments alike."""
        settings = context.scene.taffeta
        settings.cloth_contact = settings.bl_rna.properties["cloth_contact"].default
        return "Cloth on Cloth is Pairs"


class TAFFETA_OT_fix_tangles(Fix, bpy.types.Operator):
    """Untangle all cloths of the scene, in the order of their layers, by a shape key of their own"""

    bl_idname = "taffeta.fix_tangles"
    bl_label = "Untangle All"
    is_of_scene = True

    def mend(self, context, obj):
        """As the button in Layers, and crossings are counted anew."""
        bpy.ops.taffeta.untangle(everything=True)
        problem_list.check_thoroughly(context.scene)
        return "Layers are taken out of each other"


register, unregister = bpy.utils.register_classes_factory(
    (
        TAFFETA_OT_fix_save, TAFFETA_OT_fix_temporary, TAFFETA_OT_fix_scale, TAFFETA_OT_fix_modifiers, TAFFETA_OT_fix_aura, TAFFETA_OT_fix_own_collider,
        TAFFETA_OT_fix_colliders, TAFFETA_OT_fix_pins, TAFFETA_OT_fix_gravity, TAFFETA_OT_fix_remapping, TAFFETA_OT_fix_dynamics,
        TAFFETA_OT_fix_cloth_contact, TAFFETA_OT_fix_tangles, TAFFETA_OT_fix_weld, TAFFETA_OT_fix_makers, TAFFETA_OT_fix_gravity_scale,
        TAFFETA_OT_fix_distance, TAFFETA_OT_fix_cage,
    )
)  # fmt: skip
