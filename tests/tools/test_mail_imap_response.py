"""What IMAP servers answer, as odd as they do."""

from __future__ import annotations

from typing import Any

import pytest
from clitool_tools.mail.imap.fetched import messages
from clitool_tools.mail.imap.folders import by_role, count, folders
from clitool_tools.mail.imap.response import Response, values
from clitool_tools.mail.imap.structure import structure
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param([b"1 two"], [b"1", b"two"], id="atoms"),
        pytest.param([b"(a (b) ())"], [[b"a", [b"b"], []]], id="lists"),
        pytest.param([b'NIL nil "NIL"'], [None, None, b"NIL"], id="NIL is nothing, quoted it is a word"),
        pytest.param([b'"a \\"b\\" \\\\"'], [b'a "b" \\'], id="escapes"),
        pytest.param([b'"a) (b" c'], [b"a) (b", b"c"], id="parentheses in quotes"),
        pytest.param([b"(a ", b"l)i(t", b" b)"], [[b"a", b"l)i(t", b"b"]], id="literal in a list"),
        pytest.param([b"", b"one", b" ", b"two", b""], [b"one", b"two"], id="two literals"),
        pytest.param([b"", b"NIL", b""], [b"NIL"], id="a literal is never NIL"),
        pytest.param([b"  a \t b  "], [b"a", b"b"], id="more blanks than needed"),
        pytest.param(
            [b'BODY[HEADER.FIELDS (DATE "X")]<0> x'], [b'BODY[HEADER.FIELDS (DATE "X")]<0>', b"x"], id="section"
        ),
        pytest.param([b"(\\Seen [odd $Forwarded)"], [[b"\\Seen", b"[odd", b"$Forwarded"]], id="bracket in a flag"),
        pytest.param([b"(a (b"], [[b"a", [b"b"]]], id="lists that are not closed"),
        pytest.param([b"a) b)"], [b"a", b"b"], id="lists that were not opened"),
        pytest.param([b'"never closed'], [b"never closed"], id="quote that is not closed"),
        pytest.param([b"BODY[never"], [b"BODY[never"], id="section that is not closed"),
        pytest.param([b""], [], id="nothing"),
    ],
)
def test_values_are_read_tolerantly(pieces: list[bytes], expected: list[Any]) -> None:
    assert values(pieces) == expected


@given(st.lists(st.binary(), min_size=1))
def test_nothing_that_a_server_sends_breaks_the_reader(pieces: list[bytes]) -> None:
    response = Response(pieces)
    _ = response.values(), response.code, response.text
    messages([response])
    count(folders([response]), [response])


def test_lists_in_lists_have_a_limit() -> None:
    """A message of a hostile sender must not end the process, nor hide the other messages."""
    hostile = Response([b"* 1 FETCH (UID 1 BODYSTRUCTURE " + b"(" * 100_000])
    good = Response([b"* 2 FETCH (UID 2 RFC822.SIZE 5)"])

    found = messages([hostile, good])

    assert found[2].size == 5
    assert found.keys() == {2}


@pytest.mark.parametrize(
    ("line", "kind", "number", "code", "text"),
    [
        pytest.param(b"* OK [UIDVALIDITY 12] valid", b"OK", None, (b"UIDVALIDITY", [b"12"]), "valid", id="code"),
        pytest.param(b"* ok [uidvalidity 12]", b"OK", None, (b"UIDVALIDITY", [b"12"]), "", id="lower case"),
        pytest.param(b"T1 NO no [such] thing", b"NO", None, (b"", []), "no [such] thing", id="brackets later"),
        pytest.param(b"* 12 exists", b"EXISTS", 12, (b"", []), None, id="number first"),
        pytest.param(b"*  12  EXISTS", b"EXISTS", 12, (b"", []), None, id="blanks"),
        pytest.param(b"* OK [UNCLOSED", b"OK", None, (b"UNCLOSED", []), "", id="code that is not closed"),
        pytest.param(
            b"* OK [PERMANENTFLAGS (\\Seen \\*)] x",
            b"OK",
            None,
            (b"PERMANENTFLAGS", [[b"\\Seen", b"\\*"]]),
            "x",
            id="list in a code",
        ),
        pytest.param(b"* BYE \xff\xfe", b"BYE", None, (b"", []), "\ufffd\ufffd", id="text that is none"),
        pytest.param(b"", b"", None, (b"", []), None, id="empty line"),
        pytest.param(b"* 99999999999 EXISTS", b"99999999999", None, (b"", []), None, id="number that is none"),
    ],
)
def test_a_response_is_taken_apart(
    line: bytes, kind: bytes, number: int | None, code: tuple[bytes, list[Any]], text: str | None
) -> None:
    response = Response([line])

    assert (response.kind, response.number, response.code) == (kind, number, code)
    assert text is None or response.text == text


@pytest.mark.parametrize(
    ("line", "uid", "items"),
    [
        pytest.param(
            b"* 1 FETCH (UID 5 RFC822.SIZE 10)", 5, {b"UID": b"5", b"RFC822.SIZE": b"10"}, id="as it should be"
        ),
        pytest.param(b"* 1 fetch (rfc822.size 10 uid 5)", 5, {b"RFC822.SIZE": b"10", b"UID": b"5"}, id="lower case"),
        pytest.param(
            b'* 1 FETCH (UID 5 Body[header.fields ("DATE" "FROM")] "x")',
            5,
            {b"UID": b"5", b"BODY[HEADER.FIELDS]": b"x"},
            id="fields spelled in another way",
        ),
        pytest.param(b'* 1 FETCH (UID 5 BODY[1.2]<0> "x")', 5, {b"UID": b"5", b"BODY[1.2]": b"x"}, id="offset"),
        pytest.param(b'* 1 FETCH (UID 5 BODY[1.2] "x")', 5, {b"UID": b"5", b"BODY[1.2]": b"x"}, id="offset left out"),
        pytest.param(b"* 1 FETCH (UID 5 FLAGS)", 5, {b"UID": b"5"}, id="item without a value"),
        pytest.param(b"* 1 FETCH (UID 5 X (FLAGS", 5, {b"UID": b"5", b"X": [b"FLAGS"]}, id="list that is not closed"),
        pytest.param(b"* 1 FETCH (FLAGS (\\Seen))", None, {}, id="news about another message"),
        pytest.param(b"* 1 FETCH", None, {}, id="no data"),
        pytest.param(b"* 1 FETCH ()", None, {}, id="no items"),
        pytest.param(b"* 1 FETCH (UID 0)", None, {}, id="zero"),
        pytest.param(b"* 1 FETCH (UID 4294967296)", None, {}, id="too large"),
        pytest.param(b"* 1 FETCH (UID -1)", None, {}, id="negative"),
        pytest.param("* 1 FETCH (UID ٣)".encode(), None, {}, id="digit of another script"),
        pytest.param(b"* 1 FETCH (UID NIL)", None, {}, id="nothing"),
        pytest.param(b"* 1 FETCH (UID (5))", None, {}, id="list"),
    ],
)
def test_items_of_a_message_have_one_name_each(line: bytes, uid: int | None, items: dict[bytes, Any]) -> None:
    found = messages([Response([line])])

    assert {each: message.items for each, message in found.items()} == ({} if uid is None else {uid: items})


def test_what_comes_in_several_responses_is_one_message() -> None:
    found = messages([Response([b"* 1 FETCH (UID 5 FLAGS ())"]), Response([b"* 1 FETCH (UID 5 FLAGS (\\SEEN))"])])

    assert found[5].has_flag(b"\\Seen")


LISTS = [
    pytest.param([b'* LIST (\\HasNoChildren) "/" "a b"'], b"a b", "/", id="quoted"),
    pytest.param([b'* LIST () "." a.b'], b"a.b", ".", id="atom"),
    pytest.param([b'* LIST () "/" ', b'a "b\\', b""], b'a "b\\', "/", id="literal"),
    pytest.param([b"* LIST () NIL INBOX"], b"INBOX", "", id="no hierarchy"),
    pytest.param([b'* list () "/" NIL'], b"NIL", "/", id="a folder called NIL"),
    pytest.param([b'* LIST () "/" Gesendete Objekte'], b"Gesendete Objekte", "/", id="quotes forgotten"),
    pytest.param([b'* LIST () "/" "x" ("CHILDINFO" ("SUBSCRIBED"))'], b"x", "/", id="extended data"),
    pytest.param([b'* LIST () "\\\\" "a\\\\b"'], b"a\\b", "\\", id="backslash"),
    pytest.param([b'* LIST () "/" 2024'], b"2024", "/", id="number"),
]


@pytest.mark.parametrize(("pieces", "raw", "delimiter"), LISTS)
def test_folders_keep_the_name_that_the_server_gave(pieces: list[bytes], raw: bytes, delimiter: str) -> None:
    (folder,) = folders([Response(pieces)])

    assert (folder.raw, folder.delimiter) == (raw, delimiter)


@pytest.mark.parametrize("line", [b"* LIST", b"* LIST ()", b'* LIST () "/"', b'* LIST x "/" y'], ids=repr)
def test_a_line_that_lists_no_folder_is_left_out(line: bytes) -> None:
    assert folders([Response([line])]) == []


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        pytest.param(b"Entw&APw-rfe", "Entwürfe", id="as it should be"),
        pytest.param(b"Entw&APw", "Entw&APw", id="as Yandex writes some"),
        pytest.param("Entwürfe".encode(), "Entwürfe", id="raw UTF-8"),
        pytest.param(b"Entw\xfcrfe", "Entw\\xfcrfe", id="raw Latin-1"),
        pytest.param(b"a&AAo-b", "a&AAo-b", id="line feed, encoded"),
        pytest.param(b"a\x1bb", "a\\x1bb", id="escape"),
        pytest.param(b"a\xe2\x80\xa8b", "a\\xe2\\x80\\xa8b", id="line separator"),
    ],
)
def test_folders_have_a_name_that_can_be_shown_and_given_back(raw: bytes, name: str) -> None:
    (folder,) = folders([Response([b'* LIST () "/" ', raw, b""])])

    assert folder.name == name
    assert folder.name.isprintable()


@pytest.mark.parametrize(
    ("listed", "role", "name"),
    [
        pytest.param([b'(\\Sent) "/" Post', b'() "/" Sent'], "sent", "Post", id="what the server says comes first"),
        pytest.param([b'(\\SENT) "/" Post'], "sent", "Post", id="letter case"),
        pytest.param([b'() "/" "Sent Items"', b'() "/" Sent'], "sent", "Sent", id="the best-known name"),
        pytest.param([b'() "." INBOX.Sent'], "sent", "INBOX.Sent", id="below the inbox"),
        pytest.param([b'() "/" Entw&APw-rfe'], "drafts", "Entwürfe", id="German"),
        pytest.param([b'(\\Noselect) "/" Sent', b'() "/" "Sent Items"'], "sent", "Sent Items", id="holds no mail"),
        pytest.param([b'() "/" Presents', b'() "/" Sent/2023'], "sent", None, id="similar names"),
        pytest.param([], "drafts", None, id="no folders"),
    ],
)
def test_the_folder_for_a_purpose_is_found(listed: list[bytes], role: str, name: str | None) -> None:
    found = by_role(folders(Response([b"* LIST " + line]) for line in listed), role)

    assert (found and found.name) == name


TEXT = b'("text" "plain" ("charset" "utf-8") NIL NIL "7bit" 10 1 NIL NIL NIL NIL)'
HTML = b'("text" "html" NIL NIL NIL "quoted-printable" 10 1)'
PDF = b'("application" "pdf" ("name" "a.pdf") NIL NIL "base64" 99 NIL ("attachment" ("filename" "a.pdf")) NIL NIL)'
PICTURE = b'("image" "png" NIL "<p@x>" NIL "base64" 9 NIL ("inline" NIL) NIL NIL)'
MESSAGE = b'("message" "rfc822" NIL NIL NIL "7bit" 500 ("date" "s" NIL NIL NIL NIL NIL NIL NIL NIL) %s 9)'


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        pytest.param(TEXT, ["1 text/plain"], id="text"),
        pytest.param(b'(%s%s "alternative")' % (TEXT, HTML), ["1 text/plain", "2 text/html"], id="alternatives"),
        pytest.param(
            b'((%s%s "ALTERNATIVE")%s "mixed")' % (TEXT, HTML, PDF),
            ["1.1 text/plain", "1.2 text/html", "2 application/pdf attachment"],
            id="nested",
        ),
        pytest.param(
            b'(%s%s "mixed")' % (TEXT, MESSAGE % (b'(%s%s "mixed")' % (TEXT, PDF))),
            ["1 text/plain", "2 message/rfc822 attachment"],
            id="forwarded message",
        ),
        pytest.param(b'((%s%s "related") "mixed")' % (HTML, PICTURE), ["1.1 text/html", "1.2 image/png"], id="picture"),
        pytest.param(
            b'("TEXT" "HTML" NIL NIL NIL "7BIT" 5 1 NIL ("INLINE" ("FILENAME" "a.html")))',
            ["1 text/html"],
            id="inline text with a name is the text",
        ),
        pytest.param(b'("text" "calendar" NIL NIL NIL "7bit" 5 1)', ["1 text/calendar attachment"], id="calendar"),
        pytest.param(
            b'("text" "csv" ("name*0" "a" "name*1" ".csv") NIL NIL "7bit" 5 1)', ["1 text/csv attachment"], id="csv"
        ),
        pytest.param(
            b'("application" "octet-stream" NIL NIL NIL "base64" 9)',
            ["1 application/octet-stream attachment"],
            id="nothing said about it",
        ),
        pytest.param(
            b'("image" "jpeg" NIL NIL NIL "base64" 9 NIL ("inline" NIL))', ["1 image/jpeg attachment"], id="photograph"
        ),
        pytest.param(b"(NIL NIL NIL)", ["1 text/plain"], id="no type, which is plain text by RFC 2045"),
        pytest.param(b'(("text" "plain"))', ["1 text/plain"], id="nearly everything left out"),
        pytest.param(
            b'("application" "pdf" NIL NIL NIL "base64" 9 ("attachment" ("filename" "a.pdf")))',
            ["1 application/pdf attachment"],
            id="checksum left out",
        ),
        pytest.param(
            b'("text" "plain" NIL NIL NIL "7bit" "ten" 1 NIL NIL ("en" "de"))', ["1 text/plain"], id="languages"
        ),
    ],
)
def test_the_parts_of_a_message_have_their_numbers(body: bytes, leaves: list[str]) -> None:
    (value,) = values([body])
    parts = structure(value).leaves()

    assert [f"{part.section} {part.kind}{' attachment' * part.is_attachment}" for part in parts] == leaves


def test_parts_of_a_forwarded_message_are_numbered_below_it() -> None:
    (value,) = values([b'(%s%s "mixed")' % (TEXT, MESSAGE % (b'(%s%s "mixed")' % (TEXT, PDF)))])
    (other,) = values([MESSAGE % TEXT])

    assert [part.section for part in structure(value).parts[1].parts[0].parts] == ["2.1", "2.2"]
    assert structure(other).parts[0].section == "1.1"


@pytest.mark.parametrize("body", [b"NIL", b"()", b'"text"', b"(())", b'((NIL) "mixed" ("x"', b""], ids=repr)
def test_what_describes_no_message_breaks_nothing(body: bytes) -> None:
    (message,) = messages([Response([b"* 1 FETCH (UID 1 BODYSTRUCTURE %s)" % body])]).values()

    assert message.structure is None or list(message.structure.leaves())
