# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta flamenco` and `taffeta openjd`: the jobs that farms run, written to where these look for them."""

from pathlib import Path

from ..presets import farm
from ..solver.cache.files import refuse_link, written


def install_flamenco(options) -> int:
    """Put the job type into the folder `scripts` beside a Flamenco Manager; returns the exit status."""
    if not options.folder.is_dir():
        raise ValueError(f"There is no folder {options.folder}; name the one that flamenco-manager lies in")
    scripts = options.folder if options.folder.name == "scripts" else options.folder / "scripts"
    scripts.mkdir(exist_ok=True)
    target = scripts / farm.FLAMENCO.name
    _copy(farm.FLAMENCO, target)
    print(
        f"Wrote {target}; Flamenco Manager offers Taffeta Wedges after Refresh from Manager in its add-on", flush=True
    )
    return 0


def write_openjd(options) -> int:
    """Write the Open Job Description template to a file; returns the exit status."""
    if options.file.suffix not in (".yaml", ".yml"):
        raise ValueError(f"{options.file}: the name has to end in .yaml")
    _copy(farm.OPENJD, options.file)
    print(f"Wrote {options.file}", flush=True)
    return 0


def _copy(source: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise ValueError(f"There is no folder {target.parent}; make it first")
    refuse_link(target)
    with written(target) as out:
        out.write(source.read_bytes())
