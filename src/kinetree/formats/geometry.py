"""What the readers of shapes share: each names what it cannot read in one warning, and leaves it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from kinetree.errors import FormatError, listed, shortened, warn_user
from kinetree.formats.packages import Packages
from kinetree.formats.xml import Element, Triple, vector
from kinetree.geometry import Mesh, Shape

Color = tuple[float, float, float, float]
ShapeReaders = Mapping[str, Callable[[Element, Packages], Shape]]
T = TypeVar("T")


class Flaws:
    """What of a file's shapes cannot be read."""

    def __init__(self, source: str) -> None:
        self.source, self.found = source, list[str]()

    def catch(self, read: Callable[[Element], T], element: Element) -> T | None:
        """Return what is read of an element; where it cannot be, note why, and return None."""
        try:
            return read(element)
        except FormatError as error:
            self.found.append(str(error).removeprefix(f"{self.source}, "))
            return None

    def all(self, read: Callable[[Element], T], elements: Iterable[Element]) -> tuple[T, ...]:
        """Return what is read of elements, without those that cannot be."""
        return tuple(found for element in elements if (found := self.catch(read, element)) is not None)

    def warn(self) -> None:
        """Warn of what was noted."""
        if self.found:
            warn_user(f"{self.source}: shapes and colours that cannot be read are left out: {listed(self.found, 5)}")


def read_shape(element: Element, shapes: ShapeReaders, files: Packages) -> Shape:
    """Return the shape that a ``<geometry>`` has."""
    if not element.children:
        raise element.error("there is no shape in it")
    first = element.children[0]
    tag = first.tag.rpartition("}")[2]
    if tag not in shapes:
        raise first.error(f"this shape is not read; those that are: {', '.join(shapes)}")
    return shapes[tag](first, files)


def mesh(element: Element, uri: str, scale: Sequence[float], files: Packages) -> Mesh:
    """Return a mesh by the path of its file; by its name in the robot's file where there is no such file."""
    x, y, z = scale
    if 0.0 in scale:
        raise element.error("the scale of the mesh is zero")
    return Mesh(files.locate(uri) or uri, (x, y, z))


def lengths(element: Element, attribute: str) -> Triple:
    """Return an attribute as three numbers that are not negative."""
    x, y, z = vector(element, attribute, 3)
    if min(x, y, z) < 0.0:
        raise element.error(f"{attribute}={shortened(element.attributes[attribute])!r}: lengths cannot be negative")
    return x, y, z


def color(element: Element, attribute: str) -> Color:
    """Return an attribute as red, green, blue and, by default 1, opacity."""
    few = len(element.attributes.get(attribute, "").split()) == 3
    r, g, b, a = (*vector(element, attribute, 3), 1.0) if few else vector(element, attribute, 4)
    if not all(0.0 <= x <= 1.0 for x in (r, g, b, a)):
        raise element.error(
            f"{attribute}={shortened(element.attributes[attribute])!r}: a colour's numbers are from 0 to 1"
        )
    return r, g, b, a
