# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheels of a zip fit each other, their Python and their platform, and unpack; what does not is told in a sentence."""

import base64
import hashlib
import io
import zipfile

import pytest
from wheels_fit import SYSTEMS, brought_by, misfits

NUMPY = {"numpy": "1.26.4"}


def wheel(requires=(), python=">=3.10", record=None):
    """Contents of a wheel of one file."""
    code = b"answer = 42\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(code).digest()).rstrip(b"=").decode()
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("knit.py", code)
        packed.writestr("knit-1.0.dist-info/METADATA", f"Name: knit\nVersion: 1.0\nRequires-Python: {python}\n{lines}")
        packed.writestr(
            "knit-1.0.dist-info/RECORD", record or f"knit.py,sha256={digest},12\nknit-1.0.dist-info/RECORD,,\n"
        )
    return out.getvalue()


@pytest.mark.parametrize(
    ("platform", "tag"),
    [
        ("linux-x64", "manylinux2014_x86_64.manylinux_2_17_x86_64"),
        ("windows-x64", "win_amd64"),
        ("macos-arm64", "macosx_11_0_arm64"),
    ],
)
def test_what_fits_its_platform_fits_no_other(platform, tag):
    name = f"knit-1.0-cp311-cp311-{tag}.whl"
    needs = "numpy>=1.24,<2.3", 'winreg; sys_platform == "sun"', 'pytest; extra == "tests"'
    for other in SYSTEMS:
        found = misfits({name: wheel(needs)}, other, "3.11", NUMPY)
        assert found == ([] if other == platform else [f"{name} is not of Python 3.11 on {other}"])
    assert misfits({name: wheel(needs)}, platform, "3.13", NUMPY) == [f"{name} is not of Python 3.13 on {platform}"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (wheel(["numpy>=2"]), "knit needs numpy>=2, and 1.26.4 is there"),
        (wheel(["purl"]), "knit needs purl, and none is there"),
        (wheel(['purl; sys_platform == "win32"']), "knit needs purl"),
        (wheel(python=">=3.12"), "knit needs Python >=3.12"),
        (wheel(record="knit.py,sha256=AAAA,12\n"), "knit.py is not what its RECORD says"),
        (wheel(record="lost.py,sha256=AAAA,12\n"), "lost.py is missing"),
    ],
)
def test_what_does_not_fit_is_told(made, words):
    (found,) = misfits({"knit-1.0-py3-none-any.whl": made}, "windows-x64", "3.11", NUMPY)
    assert words in found


@pytest.mark.parametrize("blender", ["4.5", "5.2"])
def test_numpy_is_the_one_that_blender_brings(blender):
    (version,) = brought_by(blender).values()
    assert version.count(".") == 2
