"""The hardened XML layer: lines, encodings, files that mean harm; attributes as numbers and rotations."""

from __future__ import annotations

import gc
import locale
import math
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.errors import FormatError
from kinetree.formats.xml import (
    MAX_DEPTH,
    MAX_MARKS,
    Element,
    number,
    parse_xml,
    quaternion_rotation,
    rpy_rotation,
    triple,
    vector,
)

SECONDS = 10.0  # each hostile file takes well under one; a shared runner may be slow, a hang is minutes


def refused(text: str | bytes) -> str:
    """Return the message with which a document is refused, in good time."""
    gc.freeze()  # what other tests have built is not looked through
    start = time.monotonic()
    with pytest.raises(FormatError) as caught:
        parse_xml(text, "robot.urdf")
    gc.collect()  # what was built is destroyed as well
    assert time.monotonic() - start < SECONDS
    assert len(str(caught.value)) < 500
    return str(caught.value)


def test_every_element_knows_its_line_attributes_and_parent():
    root = parse_xml("<a>\n <b\n  x='1'/>\n\n<c> one <d/> two </c></a>", "f")
    b, c = root.children
    assert [(e.tag, e.line) for e in root.walk()] == [("a", 1), ("b", 2), ("c", 5), ("d", 5)]
    assert (b.attributes, c.children[0].parent) == ({"x": "1"}, c)
    assert root.parent is None


def test_paths_name_the_way_from_below_the_root():
    root = parse_xml("<robot name='r'><link name='arm'><inertial/></link></robot>")
    link = root.children[0]
    assert root.path == "<robot name='r'>"
    assert link.children[0].path == "<link name='arm'> <inertial>"
    assert str(link.error("too short")) == "<string>, line 1, <link name='arm'>: too short"


def test_long_names_are_cut_in_messages():
    element = parse_xml(f"<link name='{'n' * 10_000}'/>")
    assert len(str(element.error("x"))) < 150


def test_only_finds_one_child_and_refuses_two():
    root = parse_xml("<a>\n<b/>\n<c/>\n<c/></a>", "f")
    assert isinstance(root.only("b"), Element)
    assert root.only("z") is None
    with pytest.raises(FormatError, match=r"^f, line 4, <c>: a second <c>, the first is on line 3"):
        root.only("c")


@pytest.mark.parametrize(
    "document",
    [
        "<r n='é'/>",
        "\ufeff<r n='é'/>",
        "\n \n<?xml version='1.0' encoding='ascii'?><r n='é'/>",
        "<r n='é'/>".encode(),
        b"\xef\xbb\xbf" + "<r n='é'/>".encode(),
        "<r n='é'/>".encode("utf-16"),
        "<?xml version='1.0' encoding='latin-1'?><r n='é'/>".encode("latin-1"),
        "<?xml version='1.0' encoding='windows-1252'?><r n='é'/>".encode("cp1252"),
        "<!-- head -->\n<?note?><r n='&#233;'/><!-- foot -->\n",
    ],
)
def test_encodings(document):
    assert parse_xml(document).attributes == {"n": "é"}


def test_lines_count_from_the_start_of_a_string_with_a_late_declaration():
    assert parse_xml("\n\n<?xml version='1.0'\n?>\n<r/>").line == 5


@pytest.mark.parametrize("encoding", ["no-such-thing", "shift_jis", "utf-7", "hex", "idna", "punycode"])
def test_encodings_that_cannot_be_read(encoding):
    assert "save the file as UTF-8" in refused(f"<?xml version='1.0' encoding='{encoding}'?><r/>".encode())


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("", "robot.urdf is empty"),
        (" \n\t", "robot.urdf is empty"),
        (b"", "robot.urdf is empty"),
        ("mass: 3", "line 1, column 1: not XML"),
        (b"\x7fELF\x02\x01\x00\x00", "binary file"),
        (bytes(range(1, 256)), "line 1, column 1"),
        ("<robot>\0</robot>", "line 1, column 8"),
        ("<robot>\ud800</robot>", "cannot be decoded"),
        ("<robot>\n<link>\n</robot>", "line 3, column 3: mismatched tag: <link>, opened on line 2, is still open"),
        ("<robot>\n<link name='a'>\n<mass val", "the file ends inside <link name='a'>, opened on line 2"),
        ("<robot>\n<link name='a'>\n", "the file ends inside <link name='a'>, opened on line 2"),
        ("<ro", "line 1, column 1: the file ends before the element is closed"),
        ("<robot/>\n<robot/>", "line 2, column 1"),
        ("<r a='1'\n a='2'/>", "line 2, column 2: not well-formed XML (duplicate attribute)"),
        ("<r>&nbsp;</r>", "undefined entity"),
        ("<r>\n<xacro:macro/></r>", "line 2, column 1: a prefix such as 'xacro:' is used but not declared"),
    ],
)
def test_what_is_not_xml(document, said):
    assert said in refused(document)


BOMB = "<!DOCTYPE r [\n<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{i + 1} '{f'&a{i};' * 10}'>" for i in range(12))
DOCTYPES = {
    "billion laughs": BOMB + "]><r>&a12;</r>",
    "quadratic blow-up": f"<!DOCTYPE r [\n<!ENTITY a '{'a' * 100_000}'>]><r>{'&a;' * 100_000}</r>",
    "external entity": "<!DOCTYPE r [\n<!ENTITY a SYSTEM 'file:///etc/passwd'>]><r>&a;</r>",
    "external address": "<!DOCTYPE r [\n<!ENTITY a SYSTEM 'http://127.0.0.1:9/x'>]><r>&a;</r>",
    "external document type": "<!DOCTYPE r\nSYSTEM 'http://127.0.0.1:9/r.dtd'><r/>",
    "parameter entity": "<!DOCTYPE r [\n<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><r/>",
    "default attribute": f"<!DOCTYPE r [\n<!ATTLIST a b CDATA '{'x' * 100_000}'>]><r>{'<a/>' * 10_000}</r>",
    "harmless": "<!DOCTYPE\nr><r/>",
}


@pytest.mark.parametrize("document", DOCTYPES.values(), ids=DOCTYPES)
def test_document_types_are_refused_before_they_do_anything(document):
    message = refused(document)
    assert message.startswith("robot.urdf, line ")
    assert "document type declaration" in message


def test_depth():
    deepest = "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH
    assert sum(1 for _ in parse_xml(deepest).walk()) == MAX_DEPTH
    assert "nested more than 200 deep" in refused("<r>" + deepest + "</r>")
    assert "line 201, <a>: elements are nested" in refused("<a>\n" * 100_000)
    assert "nested" in refused("<a>" * 100_000 + "</a>" * 100_000)


@pytest.mark.parametrize(
    "document",
    [
        "<r>" + "<a/>" * MAX_MARKS + "</r>",
        "<r " + " ".join(f"a{i}='1'" for i in range(MAX_MARKS)) + "/>",
        ("<r>" + "<a/>" * MAX_MARKS + "</r>").encode("utf-16"),
    ],
    ids=["elements", "attributes", "UTF-16"],
)
def test_numbers_of_elements_and_attributes(document):
    assert "tags and attributes" in refused(document)


def test_size():
    assert "more than the 64 MB" in refused("<r>" + " " * (100 * 2**20) + "</r>")
    assert "more than the 64 MB" in refused(b"<r>" + b" " * (100 * 2**20) + b"</r>")


@pytest.mark.parametrize(
    "document", ["<r>" + "\n" * (30 * 2**20) + "</r>", "<r a='" + "x" * (30 * 2**20) + "'/>"], ids=["text", "attribute"]
)
def test_large_but_allowed_is_read_in_linear_time(document):
    start = time.monotonic()
    assert parse_xml(document).tag == "r"
    assert time.monotonic() - start < SECONDS


ULP = 2.0**-52


def element(**attributes: str) -> Element:
    return Element("mass", attributes, 7, "f.urdf")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(x):
    assert number(element(value=repr(x)), "value") == x


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("+1.", 1.0),
        (".5", 0.5),
        ("-2e-3", -0.002),
        ("1E5", 1e5),
        ("007", 7.0),
        (" 1\n", 1.0),
        ("1e-999", 0.0),
    ],
)
def test_spellings_of_numbers(text, value):
    assert number(element(value=text), "value") == value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1,5", "decimal sign is a point"),
        ("0x10", "write digits"),
        ("1_000", "write digits"),
        ("1.0kg", "write digits"),
        ("1 2", "write digits"),
        ("--1", "write digits"),
        ("1e", "write digits"),
        (".", "write digits"),
        ("１", "write digits"),
        ("٣", "write digits"),
        ("1\xa0", "write digits"),
        ("nan", "finite number"),
        ("-Infinity", "finite number"),
        ("1e400", "too large"),
        ("${mass}", "the argument xacro={} of kinetree.load"),
        ("", "is empty"),
        ("  ", "is empty"),
    ],
)
def test_what_is_not_a_number(text, hint):
    with pytest.raises(FormatError, match=r"^f\.urdf, line 7, <mass>: ") as caught:
        number(element(value=text), "value")
    assert hint in str(caught.value)
    assert "value" in str(caught.value)


def test_infinity_only_where_it_means_no_limit():
    assert number(element(upper="inf"), "upper", infinite=True) == math.inf
    assert number(element(upper="-Infinity"), "upper", infinite=True) == -math.inf
    with pytest.raises(FormatError, match="not a number"):
        number(element(upper="nan"), "upper", infinite=True)


def test_missing_attributes():
    assert number(element(), "value", 3.0) == 3.0
    assert triple(element(), "xyz", (1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    with pytest.raises(FormatError, match="the attribute 'value' is missing"):
        number(element(), "value")


def test_vectors():
    assert vector(element(xyz=" 1\t2\n3 "), "xyz", 3) == (1.0, 2.0, 3.0)
    with pytest.raises(FormatError, match="has 2 numbers, 3 are needed"):
        vector(element(xyz="1 2"), "xyz", 3)
    with pytest.raises(FormatError, match="decimal sign"):
        vector(element(xyz="1,0 2 3"), "xyz", 3)


def test_a_long_wrong_number_is_refused_at_once():
    start = time.monotonic()
    with pytest.raises(FormatError):
        number(element(value="1" * 5_000_000 + "x"), "value")
    assert time.monotonic() - start < 5.0


def test_the_locale_is_not_asked():
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
                break
            except locale.Error:
                continue
        assert number(element(value="1.5"), "value") == 1.5
        with pytest.raises(FormatError):
            number(element(value="1,5"), "value")
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def exact_rpy(rpy):
    """Return Rz(yaw) Ry(pitch) Rx(roll) to 40 digits."""
    with mpmath.workdps(40):
        r, p, y = map(mpmath.mpf, rpy)
        Rx = mpmath.matrix([[1, 0, 0], [0, mpmath.cos(r), -mpmath.sin(r)], [0, mpmath.sin(r), mpmath.cos(r)]])
        Ry = mpmath.matrix([[mpmath.cos(p), 0, mpmath.sin(p)], [0, 1, 0], [-mpmath.sin(p), 0, mpmath.cos(p)]])
        Rz = mpmath.matrix([[mpmath.cos(y), -mpmath.sin(y), 0], [mpmath.sin(y), mpmath.cos(y), 0], [0, 0, 1]])
        return np.array((Rz * Ry * Rx).tolist(), dtype=float)


angles = st.one_of(st.floats(-10, 10), st.integers(-8, 8).map(lambda k: k * math.pi / 4), st.floats(-1e-15, 1e-15))


@given(st.tuples(angles, angles, angles))
def test_rpy_against_forty_digits(rpy):
    np.testing.assert_allclose(rpy_rotation(rpy), exact_rpy(rpy), rtol=0, atol=5 * ULP)


@pytest.mark.parametrize("rpy", [(i, j, k) for i in (-2, -1, 0, 1, 2) for j in (-1, 0, 1, 2) for k in (-1, 1, 2)])
def test_quarter_turns_have_only_zeros_and_ones(rpy):
    entries = np.ravel(rpy_rotation([k * math.pi / 2 for k in rpy]))
    assert set(entries) <= {-1.0, 0.0, 1.0}
    assert not any(x == 0 and math.copysign(1, x) < 0 for x in entries)


def test_nothing_coarser_is_snapped():
    assert rpy_rotation((1.5708, 0.0, 0.0))[1][1] == math.cos(1.5708)
    assert rpy_rotation((1e-14, 0.0, 0.0))[2][1] == 1e-14


@given(
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: max(map(abs, q)) > 1e-3), st.sampled_from([1.0, 1e-200, 1e200])
)
def test_quaternions_of_any_length(q, scale):
    R = np.array(quaternion_rotation([x * scale for x in q]))
    v, w = np.array(q[:3]), q[3]
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    np.testing.assert_allclose(R, np.eye(3) + 2 * (w * K + K @ K) / np.dot(q, q), rtol=0, atol=8 * ULP)
