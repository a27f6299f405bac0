"""The classes and members of Spark that a jar uses, read from the constant pools of its class files.

The jar carries the list (`joinery-references.txt`), and uses it to check whether it fits a vendor's Spark or another
patch version. Source: chapter 4 of the JVM specification.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

LIST = "joinery-references.txt"
SPARK = "org/apache/spark/"
UTF8, LONG, DOUBLE, CLASS, NAME_AND_TYPE = 1, 5, 6, 7, 12
MEMBERS = (9, 10, 11)  # of a field, a method, a method of an interface
SIZES = {3: 4, 4: 4, LONG: 8, DOUBLE: 8, CLASS: 2, 8: 2, 9: 4, 10: 4, 11: 4, NAME_AND_TYPE: 4,
         15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}  # fmt: skip


def add_to(jar: Path) -> None:
    """Write the list into a jar that has none.

    Args:
        jar: The jar.
    """
    with zipfile.ZipFile(jar, "a", zipfile.ZIP_DEFLATED) as archive:
        if LIST not in archive.namelist():
            archive.writestr(LIST, "\n".join(references(archive)) + "\n")


def references(archive: zipfile.ZipFile) -> list[str]:
    """The lines of the list: a class, or a class, a member and the member's descriptor.

    Args:
        archive: The jar.
    """
    own = {name.removesuffix(".class") for name in archive.namelist() if name.endswith(".class")}
    used = {words for name in own for words in _used(archive.read(f"{name}.class"))}
    return sorted(" ".join(words) for words in used if words[0].startswith(SPARK) and words[0] not in own)


def _used(file: bytes) -> Iterator[tuple[str, ...]]:
    """Every class, and every member with its class, that a class file names."""
    constants = _constants(file)

    def text(index: int) -> str:
        return constants[index][1].decode()

    for tag, value in constants.values():
        if tag == CLASS:
            name = text(*struct.unpack(">H", value))
            if not name.startswith("["):
                yield (name,)
        elif tag in MEMBERS:
            owner, member = struct.unpack(">HH", value)
            names = struct.unpack(">HH", constants[member][1])
            yield (text(*struct.unpack(">H", constants[owner][1])), *map(text, names))


def _constants(file: bytes) -> dict[int, tuple[int, bytes]]:
    """The tag and the bytes of each constant, by its number."""
    (count,) = struct.unpack_from(">H", file, 8)
    constants: dict[int, tuple[int, bytes]] = {}
    at, number = 10, 1
    while number < count:
        tag = file[at]
        at += 1
        if tag == UTF8:
            (size,) = struct.unpack_from(">H", file, at)
            at += 2
        else:
            size = SIZES[tag]
        constants[number] = (tag, file[at : at + size])
        at += size
        number += 2 if tag in (LONG, DOUBLE) else 1
    return constants
