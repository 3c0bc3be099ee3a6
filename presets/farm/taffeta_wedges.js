// SPDX-License-Identifier: GPL-3.0-or-later
// Flamenco 3 job type: bakes wedges of a shot with Taffeta, a task each, then draws and exports them all.
// `blender --command taffeta flamenco FOLDER` puts it beside the Manager in FOLDER.
//
// Every command may be run again: --resume keeps the frames that are good, and the sheet is drawn anew.

const JOB_TYPE = {
    label: "Taffeta Wedges",
    description: "Bake a shot's cloth with several values of its settings, and draw all on one sheet",
    settings: [
        { key: "wedges", type: "string", required: true,
          eval: "'; '.join(entry.name + '=' + entry.values for entry in C.scene.taffeta_wedges)",
          evalInfo: { showLinkButton: true, description: "What the panel Wedges lists" },
          description: "Settings and values: Skirt.bending=1e-6,1e-5; scene.wind.x=0,3" },
        { key: "export_path", type: "string", subtype: "file_path", required: false, default: "",
          description: "Export each wedge to a file of its own, as cloth.abc to cloth-WEDGE.abc beside the shot; empty exports none" },

        // Given by the Flamenco add-on, or evaluated.
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The shot" },
        { key: "scene", type: "string", required: true, eval: "C.scene.name", visible: "web",
          description: "The scene that is baked" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    const count = wedgeCount(settings.wedges);
    const bakes = [];
    for (let number = 1; number <= count; number++) {
        const task = author.Task(`wedge-${number}`, "blender");
        task.addCommand(taffeta("bake", settings, ["--resume", "--only", `${number}`]));
        bakes.push(task);
    }
    const sheet = author.Task("sheet", "blender");
    sheet.addCommand(taffeta("sheet", settings, exported(settings)));
    for (const task of bakes) {
        sheet.addDependency(task);
        job.addTask(task);
    }
    job.addTask(sheet);
}

// A Worker runs in any folder, and Blender's file browser gives "//" for that of the shot: a relative path is seen from there.
function exported(settings) {
    if (!settings.export_path) {
        return [];
    }
    const folder = settings.blendfile.replace(/[^\/\\]*$/, "") || ".";
    return ["--folder", folder, "--export", settings.export_path.replace(/^\/\//, "")];
}

// How many combinations there are: what `--list` counts. Taffeta itself checks the paths and values.
function wedgeCount(wedges) {
    let count = 1, found = false;
    for (const wedge of wedges.split(";")) {
        if (!wedge.trim()) {
            continue;
        }
        const values = wedge.slice(wedge.indexOf("=") + 1).split(",");
        if (wedge.indexOf("=") < 1 || values.some((value) => !value.trim())) {
            throw `"${wedge.trim()}" is no wedge; write PATH=VALUE,VALUE, as Skirt.bending=1e-6,1e-5`;
        }
        count *= values.length;
        found = true;
    }
    if (!found) {
        throw "There is no wedge; write PATH=VALUE,VALUE, as Skirt.bending=1e-6,1e-5";
    }
    if (count > 1000) {
        throw `These are ${count} combinations; 1000 are the most`;
    }
    return count;
}

// {exe} {exeArgs} {argsBefore} {blendfile} {args}: blender -b -y --command taffeta VERB shot.blend ...
function taffeta(verb, settings, args) {
    return author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: ["--command", "taffeta", verb],
        blendfile: settings.blendfile,
        args: ["--scene", settings.scene, "--wedge", settings.wedges].concat(args),
    });
}
