"""The hardened XML layer: lines, encodings, and files that mean harm."""

from __future__ import annotations

import gc
import time

import pytest

from kinetree.errors import FormatError
from kinetree.formats.xml import MAX_DEPTH, MAX_MARKS, Element, parse_xml

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
