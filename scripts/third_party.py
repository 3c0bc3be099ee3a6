# SPDX-License-Identifier: GPL-3.0-or-later
"""What a zip holds that others wrote, and under which licences: THIRD_PARTY.md of the zip, from its wheels' own metadata."""

import email
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

LICENCE_FILES = "LICENSE", "LICENCE", "LICENSES", "COPYING", "NOTICE"  # what names of licence texts begin with
CLASSIFIER = "License :: OSI Approved :: "
LONGEST = 80  # letters of a licence's name; longer is its text


class Package(NamedTuple):
    """One package in a zip."""

    name: str
    version: str
    licence: str
    home: str  # address of the project
    texts: list[str]  # paths of licence texts inside the wheel


def package_of(wheel: Path) -> Package:
    """What a wheel says of itself; a ValueError, with a sentence, where it names no licence or holds no text of one."""
    with zipfile.ZipFile(wheel) as packed:
        names = sorted(packed.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = email.message_from_bytes(packed.read(metadata))
    texts = [
        name for name in names if Path(name).name.upper().startswith(LICENCE_FILES) and not name.endswith((".py", "/"))
    ]
    classified = [
        text.removeprefix(CLASSIFIER) for text in told.get_all("Classifier", []) if text.startswith(CLASSIFIER)
    ]
    plain = told.get("License", "")
    named = plain if plain and len(plain) <= LONGEST and not plain.startswith("Copyright") else ""
    licence = told.get("License-Expression") or named or ", ".join(classified)
    if not licence or not texts:
        raise ValueError(f"{wheel.name} names no licence or holds no text of one: it cannot be passed on")
    addresses = dict(line.split(", ", 1) for line in told.get_all("Project-URL", []))
    home = told.get("Home-page") or next(
        (addresses[key] for key in addresses if key.lower() in ("homepage", "home")), ""
    )
    return Package(told["Name"], told["Version"], licence, home or next(iter(addresses.values()), ""), texts)


def third_party(wheels: Iterable[Path]) -> str:
    """THIRD_PARTY.md of a zip with these wheels."""
    packages = [package_of(wheel) for wheel in wheels]
    rows = "".join(f"| {p.name} | {p.version} | {p.licence} | {p.home} |\n" for p in packages)
    texts = "".join(f"- {p.name}: {', '.join(f'`{text}`' for text in p.texts)}\n" for p in packages)
    return (
        "# Third-party software\n\nTaffeta itself is under the GNU General Public License, version 3 or later (`LICENSE`).\n"
        "This zip also holds the packages below, unchanged, as wheels in `wheels/`. All of their licences allow that.\n\n"
        f"| package | version | licence, as the package names it | home |\n| --- | --- | --- | --- |\n{rows}\n"
        "The texts of these licences, and of what the packages themselves contain, lie inside the wheels, which are zip"
        f" files:\n\n{texts}"
    )
