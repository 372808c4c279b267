"""HTML as a reader sees it: what is hidden is left out, links show their real targets, nothing takes long or raises."""

from __future__ import annotations

import json

import pytest
from clitool_tools.mail.html.links import link_target
from clitool_tools.mail.html.sheet import declarations
from clitool_tools.mail.html.text import render
from clitool_tools.mail.html.tokens import Tag, tokens
from clitool_tools.mail.html.values import color, pixels
from clitool_tools.mail.invisible import Removed
from hypothesis import given, settings
from hypothesis import strategies as st

MOST = 100_000
HID = "IGNORE"
PIECES = """
    < > </ <! <!-- --> --!> <? = " ' & &amp; &#x41; &#0; a b / p div table tr td th li ul ol b i a href= style= class=
    <p> </p> <div> </div> <table> <tr> <td> </table> <li> <ul> </ul> <b> </b> <style> </style> <script> </script>
    <title> </title> <svg> <a </a> <br> <hr> <img <pre> <blockquote> </blockquote> .x{ } { display:none ; : , px
    color:#fff @media ( ) \\7b !important /* */ <plaintext> <base <body> </body> <html> <template> <button> <dialog>
""".split()  # noqa: SIM905 - seventy quoted pieces are not for reading


def shown(source: str) -> str:
    return render(source, MOST).text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("<p>One</p><p>Two<br>three</p>", "One\n\nTwo\nthree", id="paragraphs"),
        pytest.param("a<br><br>b", "a\n\nb", id="breaks"),
        pytest.param("a <b> b</b>\n  c", "a b c", id="blanks"),
        pytest.param("&lt;&amp;&euro;&#8364;&#x20ac;&nbsp;x&unknown;", "<&€€€ x&unknown;", id="references"),
        pytest.param("&amp;lt;", "&lt;", id="references-once"),
        pytest.param("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n  - c\n\nd", id="lists"),
        pytest.param("<ol start=3><li>a<li><p>b</p>c</ol>", "3. a\n4. b\n\n   c", id="numbers"),
        pytest.param("<table><tr><td>a<td>b<tr><th>c</th><th>d</th></table>", "a | b\nc | d", id="table"),
        pytest.param("<table><tr><td><p>a</p><td><p>b</p></table>", "a | b", id="table-of-paragraphs"),
        pytest.param("<table><tr><td>a<br>b<td>c</table>", "a\nb\nc", id="table-for-layout"),
        pytest.param("<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>", "a\nb | c\nd", id="table-in-table"),
        pytest.param("<blockquote>a<br>b</blockquote>c", "> a\n> b\n\nc", id="quotation"),
        pytest.param("<pre>a\n  b\n\nc</pre>", "a\n  b\n\nc", id="preformatted"),
        pytest.param("<div><div>a</div></div><div>b</div>", "a\nb", id="blocks"),
        pytest.param("a<hr>b", "a\n\n---\n\nb", id="rule"),
        pytest.param('<img alt="A&amp;B"><img src=x><img alt=" ">', "[image: A&B]", id="pictures"),
        pytest.param("<dl><dt>t<dd>d<dt>u</dl>", "t\nd\nu", id="definitions"),
        pytest.param("<style>p{}</style><script>x</script><title>t</title>a", "a", id="not-text"),
        pytest.param("<textarea>a<b></textarea>", "a<b>", id="text-area"),
        pytest.param("<noscript>a</noscript>", "a", id="no-script"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_document_is_laid_out(source: str, text: str) -> None:
    assert shown(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("<!-->a", "a", id="comment-of-nothing"),
        pytest.param("<!--->a", "a", id="comment-of-a-dash"),
        pytest.param("<!-- x --!>a", "a", id="comment-ended-otherwise"),
        pytest.param("<!-- x > y -->a", "a", id="comment"),
        pytest.param("a<!-- x", "a", id="comment-open"),
        pytest.param("<![CDATA[x]]>a<?php x ?>b", "ab", id="other-markup"),
        pytest.param("a <3 b < c", "a <3 b < c", id="no-markup"),
        pytest.param('<p title="x>y">a', "a", id="bracket-in-value"),
        pytest.param("<p title='x\"'>a", "a", id="other-quotation-mark"),
        pytest.param('a<p title="x', "a", id="value-open"),
        pytest.param("a<p", "a", id="tag-open"),
        pytest.param("</p >a</b", "a", id="end-tag-open"),
        pytest.param("</ x>a", "a", id="end-tag-of-nothing"),
        pytest.param("<script></scriptx></SCRIPT\n>a", "a", id="script-ended"),
        pytest.param("<plaintext></plaintext><p>", "</plaintext><p>", id="plaintext"),
        pytest.param("<p/>a<br/>b", "a\nb", id="slashes"),
    ],
)
def test_markup_ends_where_browsers_end_it(source: str, text: str) -> None:
    """What a browser shows is not taken for a comment, nor what it does not show for text."""
    assert shown(source) == text


HIDING = {
    "display": "<div style='display:none'>{}</div>",
    "display-capitals": "<DIV STYLE='DISPLAY : NONE'>{}</DIV>",
    "display-important": "<p style='display:none!important;display:block'>{}</p>",
    "display-escaped": "<p style='d\\69 splay:n\\6f ne'>{}</p>",
    "display-commented": "<p style='/**/display/**/:/**/none/**/'>{}</p>",
    "display-referenced": "<p style='display&#58;none'>{}</p>",
    "display-last-word": "<p style='display:block;display:none'>{}</p>",
    "content-visibility": "<p style='content-visibility:hidden'>{}</p>",
    "visibility": "<p style='visibility:hidden'>{}</p>",
    "visibility-collapse": "<p style='visibility:collapse'>{}</p>",
    "visibility-inherited": "<div style='visibility:hidden'><p><b>{}</b></p></div>",
    "hidden": "<p hidden>{}</p>",
    "hidden-value": "<p hidden=false>{}</p>",
    "font-size": "<p style='font-size:0'>{}</p>",
    "font-size-tiny": "<p style='font-size:.1px'>{}</p>",
    "font-size-percent": "<p style='font-size:1%'>{}</p>",
    "font-size-em-of-em": "<p style='font-size:.1em'><b style='font-size:.1em'>{}</b></p>",
    "font-size-points": "<p style='font-size:1pt'>{}</p>",
    "font-shorthand": "<p style='font:bold 0/1 serif'>{}</p>",
    "opacity": "<p style='opacity:0'>{}</p>",
    "opacity-percent": "<p style='opacity:1%'>{}</p>",
    "opacity-small": "<p style='opacity:1e-3'>{}</p>",
    "opacity-filter": "<p style='filter:blur(0) opacity(0%)'>{}</p>",
    "white-on-white": "<p style='color:white'>{}</p>",
    "white-on-white-short": "<p style='color:#FFF'>{}</p>",
    "white-on-white-rgb": "<p style='color:rgb(255 255 255 / 100%)'>{}</p>",
    "white-on-white-percent": "<p style='color:rgb(100%,100%,100%)'>{}</p>",
    "white-on-white-hsl": "<p style='color:hsl(0,0%,100%)'>{}</p>",
    "white-on-white-nearly": "<p style='color:#fdfdfd'>{}</p>",
    "white-on-white-old": "<font color=FFFFFF>{}</font>",
    "black-on-black": "<p style='background:#000'>{}</p>",
    "black-on-black-old": "<table bgcolor=black><tr><td>{}</td></tr></table>",
    "black-on-black-body": "<body bgcolor='#000000'>{}</body>",
    "colour-inherited": "<div style='background-color:navy'><p style='color:#000080'>{}</p></div>",
    "transparent": "<p style='color:transparent'>{}</p>",
    "transparent-alpha": "<p style='color:#00000000'>{}</p>",
    "transparent-fill": "<p style='-webkit-text-fill-color:transparent'>{}</p>",
    "far-left": "<p style='position:absolute;left:-9999px'>{}</p>",
    "far-left-em": "<p style='position:fixed;top:-100em'>{}</p>",
    "far-left-relative": "<p style='position:relative;left:-2000px'>{}</p>",
    "indented": "<p style='text-indent:-9999px'>{}</p>",
    "margin": "<p style='margin-left:-5000px'>{}</p>",
    "margin-shorthand": "<p style='margin:0 0 0 -5000px'>{}</p>",
    "translated": "<p style='transform:translateX(-9999px)'>{}</p>",
    "scaled": "<p style='transform:scale(0)'>{}</p>",
    "scaled-alone": "<p style='scale:0'>{}</p>",
    "no-height": "<div style='height:0;overflow:hidden'>{}</div>",
    "no-max-height": "<div style='max-height:0px;overflow:hidden;mso-hide:all'>{}</div>",
    "one-pixel": "<div style='width:1px;height:1px;overflow:clip'>{}</div>",
    "clipped": "<p style='position:absolute;clip:rect(0 0 0 0)'>{}</p>",
    "clipped-pixel": "<p style='clip:rect(1px,1px,1px,1px)'>{}</p>",
    "clip-path": "<p style='clip-path:inset(50%)'>{}</p>",
    "clip-path-polygon": "<p style='clip-path:polygon(0 0, 0 0, 0 0)'>{}</p>",
    "opacity-of-opacity": "<div style='opacity:.3'><p style='opacity:.3'>{}</p></div>",
    "transparent-fill-inherited": "<div style='-webkit-text-fill-color:transparent'><p style='color:red'>{}</p></div>",
    "calculated": "<p style='font-size:calc(0px)'>{}</p>",
    "zoomed": "<p style='zoom:.01'>{}</p>",
    "scaled-small": "<p style='transform:scale(.001)'>{}</p>",
    "indented-out-of-box": "<p style='text-indent:100%;white-space:nowrap;overflow:hidden'>{}</p>",
    "clip-path-circle": "<p style='clip-path:circle(0)'>{}</p>",
    "template": "<template>{}</template>",
    "svg": "<svg><text>{}</text></svg>",
    "dialog": "<dialog>{}</dialog>",
    "datalist": "<datalist><option>{}</datalist>",
    "audio": "<video>{}</video>",
    "sheet-class": "<style>.x{display:none}</style><p class='a X'>{}</p>",
    "sheet-id": "<style>#x{display:none}</style><p id=x>{}</p>",
    "sheet-name": "<style>p{display:none}</style><p>{}</p>",
    "sheet-all": "<style>*{display:none}</style><p>{}</p>",
    "sheet-list": "<style>a , b.x,\np{display:none}</style><p>{}</p>",
    "sheet-within": "<style>.a p{display:none}</style><div class=a><div><p>{}</p></div></div>",
    "sheet-child": "<style>div>p{display:none}</style><div><p>{}</p></div>",
    "sheet-comment": "<style><!-- .x{display:none} --></style><p class=x>{}</p>",
    "sheet-commented": "<style>/* } */.x/**/{display:none}</style><p class=x>{}</p>",
    "sheet-media": "<style>@media only screen{.x{display:none}}</style><p class=x>{}</p>",
    "sheet-media-wide": "<style>@media(min-width:1px){.x{display:none}}</style><p class=x>{}</p>",
    "sheet-supports": "<style>@supports (color:red){.x{display:none}}</style><p class=x>{}</p>",
    "sheet-later": "<style>p{color:white}</style><style>p{background:#fff}</style><p>{}</p>",
    "sheet-important": "<style>.x{display:none!important}</style><p class=x style='display:block'>{}</p>",
    "sheet-specific": "<style>#x{display:none}p{display:block}</style><p id=x>{}</p>",
    "sheet-escaped": "<style>.\\78 {display:none}</style><p class=x>{}</p>",
    "sheet-in-body": "<p>a<style>.x{display:none}</style></p><p class=x>{}</p>",
    "sheet-behind": "<p class=x>{}</p><style>.x{display:none}</style>",
    "sheet-root": "<style>:root .x{display:none}</style><p class=x>{}</p>",
    "sheet-body": "<style>html > body .x{display:none}</style><p class=x>{}</p>",
    "sheet-import-before": "<style>@import url(x);.x{display:none}</style><p class=x>{}</p>",
    "end-tag-in-cell": "<div style='display:none'><table><tr><td></div>{}</td></tr></table></div>",
    "end-tag-across": "<b><div style='display:none'></b>{}</div>",
    "end-tag-of-others": "<div style='display:none'></p></span></td></table>{}</div>",
    "cell-hidden": "<table><tr><td style='display:none'>{}</td></tr></table>",
    "row-hidden": "<table><tr style='display:none'><td>{}</table>",
    "picture": "<img alt='{}' style='display:none'>",
    "comment": "<!-- {} -->",
    "conditional": "<!--[if mso]>{}<![endif]-->",
    "script": "<script>{}</script>",
    "iframe": "<iframe>{}</iframe>",
    "title": "<title>{}</title>",
}


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in HIDING.items()])
def test_hidden_text_is_left_out(source: str) -> None:
    """An instruction that no person sees never reaches an agent."""
    text = shown(f"<p>before</p>{source.replace('{}', HID)}<p style='color:red;background:white'>after</p>")

    assert HID not in text
    if "p{" not in source and "*{" not in source:  # which hide these, too
        assert "after" in text


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("<table bgcolor='#000'><tr><td><font color=white>{}</table>", id="white-on-black"),
        pytest.param("<div style='background:url(x.png)'><b style='color:#fff'>{}</b></div>", id="white-on-picture"),
        pytest.param(
            "<div style='background:linear-gradient(red,blue)'><b style='color:#fff'>{}</b></div>", id="gradient"
        ),
        pytest.param("<table><tr><td background=x.png><p style='color:#fff'>{}</table>", id="white-on-old-picture"),
        pytest.param("<p style='color:#777'>{}</p>", id="grey"),
        pytest.param("<p style='font-size:8px'>{}</p>", id="small"),
        pytest.param("<p style='opacity:.3'>{}</p>", id="pale"),
        pytest.param("<div style='font-size:0'><span style='font-size:14px'>{}</span></div>", id="size-again"),
        pytest.param("<div style='visibility:hidden'><b style='visibility:visible'>{}</b></div>", id="visible-again"),
        pytest.param("<p style='display:none;display:block'>{}</p>", id="shown-after-all"),
        pytest.param("<p hidden style='display:block'>{}</p>", id="not-hidden-after-all"),
        pytest.param("<p style='display:none'>x<p>{}", id="paragraph-not-ended"),
        pytest.param("<ul><li style='display:none'>x<li>{}</ul>", id="item-not-ended"),
        pytest.param("<table><tr><td style='display:none'>x<td>{}</table>", id="cell-not-ended"),
        pytest.param("<table><tr style='display:none'><td>x<tr><td>{}</table>", id="row-not-ended"),
        pytest.param("<div style='display:none'>x</div></div></div>{}", id="ended-too-often"),
        pytest.param("<style>@media (max-width:600px){.x{display:none}}</style><p class=x>{}</p>", id="small-screens"),
        pytest.param("<style>@media print{.x{display:none}}</style><p class=x>{}</p>", id="printers"),
        pytest.param("<style media=print>.x{display:none}</style><p class=x>{}</p>", id="sheet-for-printers"),
        pytest.param("<style>.a .x{display:none}</style><p class=x>{}</p>", id="not-within"),
        pytest.param("<style>.x{display:none}p.x{display:block}</style><p class=x>{}</p>", id="more-specific"),
        pytest.param("<style>/*.x{display:none}*/</style><p class=x>{}</p>", id="commented-out"),
        pytest.param("<div style='height:0'>{}</div>", id="no-height-but-overflowing"),
        pytest.param("<p style='left:-9999px'>{}</p>", id="not-positioned"),
        pytest.param("<p style='margin-top:-20px'>{}</p>", id="moved-a-little"),
        pytest.param("<p style='mso-hide:all'>{}</p>", id="hidden-in-outlook-only"),
        pytest.param("<p style='color:nonsense;font-size:;opacity:x;left:calc(1px)'>{}</p>", id="nonsense"),
        pytest.param("<details><summary>s</summary>{}</details>", id="folded"),
        pytest.param("<dialog open>{}</dialog>", id="open-dialog"),
        pytest.param("<p aria-hidden=true>{}</p>", id="hidden-from-screen-readers-only"),
    ],
)
def test_what_only_looks_hidden_is_shown(source: str) -> None:
    assert HID in shown(source.replace("{}", HID))


def test_what_counts_for_the_whole_document_may_stand_at_its_end() -> None:
    """Browsers hide what was there already when a style sheet, or another tag for the body, says so."""
    assert shown("<p>a<body style='display:none'>b") == ""
    assert shown("<p>a<style>body{color:white}</style>") == ""
    assert shown("<a href=b>a</a><base href='https://x.test/'>") == "a <https://x.test/b>"
    assert shown("<html class=x><body class=y><style>.x .y b{display:none}</style>a<b>b</b></body></html>c") == "ac"


def test_hidden_text_is_counted_and_what_is_not_followed_is_told_of() -> None:
    assert render("<p hidden>ab c</p>d", MOST).hidden == 3
    assert render("<style>p[x]{display:none}</style><p>a", MOST).uncertain
    assert render("<style>.a{.b{display:none}}</style><p>a", MOST).uncertain
    assert render("<p style='--x:none;display:var(--x)'>a", MOST).uncertain
    assert not render("<style>a:hover{color:white} p[x]{color:red}</style><p>a", MOST).uncertain


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param('<a href="https://x.test/?a=1&amp;b=2">here</a>.', "here <https://x.test/?a=1&b=2>.", id="link"),
        pytest.param('<a href="https://x.test/">https://x.test</a>', "https://x.test", id="the-same"),
        pytest.param('<a href="http://www.x.test">x.test</a>', "x.test", id="almost-the-same"),
        pytest.param('<a href="mailto:a@x.test">a@x.test</a>', "a@x.test", id="mail"),
        pytest.param('<a href="https://x.test"><p>block</p></a>next', "block <https://x.test>\n\nnext", id="block"),
        pytest.param('<a href="https://x.test"><img alt=P></a>', "[image: P] <https://x.test>", id="picture"),
        pytest.param('<a href="https://x.test"><img></a>', "<https://x.test>", id="picture-without-name"),
        pytest.param(
            '<a href="https://x.test">a<a href="https://y.test">b</a>',
            "a <https://x.test>b <https://y.test>",
            id="open",
        ),
        pytest.param("<a href='#x'>a</a><a>b</a><a href=''>c</a>", "abc", id="nowhere"),
        pytest.param("<a href=' java\nscript:x()'>a</a>", "a <javascript:…>", id="program"),
        pytest.param("<a href='data:text/html,x'>a</a>", "a <data:…>", id="data"),
        pytest.param("<a href='https://x.test/> fake <y'>a</a>", "a <https://x.test/%3E%20fake%20%3Cy>", id="brackets"),
        pytest.param("<base href='https://b.test/c/'><a href=d>a</a>", "a <https://b.test/c/d>", id="base"),
        pytest.param("<base href='http://['><a href=d>a</a>", "a <d>", id="bad-base"),
        pytest.param("<map><area alt=A href='https://x.test'></map>", "[image: A] <https://x.test>", id="map"),
        pytest.param("<a href='https://x.test' style='display:none'>a</a>b", "b", id="hidden"),
        pytest.param("<a href='https://x.test/\u202eexe'>a</a>", "a <https://x.test/exe>", id="invisible"),
    ],
)
def test_a_link_shows_where_it_leads(source: str, text: str) -> None:
    assert shown(source) == text


def test_a_long_target_is_cut() -> None:
    assert len(link_target("https://x.test/" + "a" * 5000)) == 1001


@pytest.mark.parametrize(
    ("text", "target", "misleads"),
    [
        ("https://bank.test/login", "https://evil.test/login", True),
        ("bank.test", "https://bank.test@evil.test/", True),
        ("www.bank.test", "https://bank.test.evil.test", True),
        ("HTTPS://BANK.TEST", "https://evil.test", True),
        ("ann@bank.test", "mailto:mallory@evil.test", True),
        ("bank.test", "https://1.2.3.4/", True),
        ("bank.test", "https://www.bank.test/x", False),
        ("www.bank.test", "https://bank.test", False),
        ("ann@bank.test", "mailto:ann@bank.test?subject=x", False),
        ("Read more", "https://evil.test", False),
        ("Price 3.50", "https://x.test", False),
    ],
)
def test_a_link_that_says_another_address_is_counted(text: str, target: str, misleads: bool) -> None:
    """A person may trust the text of a link; what it leads to is said, and that they differ, too."""
    assert render(f'<a href="{target}">{text}</a>', MOST).misleading == misleads


def test_invisible_characters_are_removed_and_counted() -> None:
    removed = Removed()

    assert render("pay&#8203;pal \u202e<img alt='\u200b'>&zwj;&shy;", MOST, removed).text == "paypal"
    assert removed.characters == 5


def test_text_ends_where_it_was_asked_to() -> None:
    rendered = render("<p>" + "word " * 1000, 20)

    assert (rendered.text, rendered.truncated) == ("word word word word ", True)
    assert not render("<p>word", 20).truncated


@pytest.mark.parametrize(
    "source",
    [
        *("<div>" * 30_000, "<b>" * 30_000, "<table><tr><td>" * 10_000, "<ul><li>" * 10_000, "<blockquote>" * 20_000),
        *("<a " * 100_000, "<!--" * 100_000, "<![" * 100_000, "&" * 300_000, "<a href='" * 30_000, "</a " * 50_000),
        *("<p x='" + "&amp;" * 100_000, "<i><div></b>" * 10_000, "<p><b><i></p>" * 10_000, "<title>" * 50_000),
        "<style>" + "{" * 300_000,
        "<style>" + "@media screen{" * 30_000,
        "<style>" + "a," * 100_000 + "{display:none}",
        "<style>" + "*{display:none}" * 3000 + "</style>" + "<p>" * 5000,
        "<style>" + "a b c d *{display:none}" * 3000 + "</style>" + "<i>" * 5000,
        "<p style='filter:opacity(" + "0" * 300_000 + "'>x",
        "<p style='transform:scale(" + "0 " * 100_000 + "'>x",
        "<p style='" + "color:red;" * 50_000 + "'>x",
        "<a href='x'>" + "a." * 100_000 + "</a>",
    ],
    ids=lambda source: f"{source[:16]}",
)
def test_a_document_made_to_take_long_or_to_go_deep_is_read_like_others(source: str) -> None:
    """Time grows with the length, and nothing recurses: where it grows with the square, this test takes minutes."""
    assert len(render(source, MOST).text) <= MOST


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=60).map(" ".join))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_no_text_makes_the_renderer_raise(source: str) -> None:
    for document in (source, source.replace(" ", "")):
        rendered = render(document, 50)
        assert len(rendered.text) <= 50
        text = render(document, MOST).text
        assert json.dumps(text)
        assert not any(line.endswith(" ") for line in text.split("\n"))


@given(st.text(alphabet="<>/!-?ab='\" &;", max_size=80))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_tokens_lose_no_text_outside_of_markup(source: str) -> None:
    found = list(tokens(source))

    assert all(isinstance(token, (str, Tag)) for token in found)
    if "<" not in source and "&" not in source:
        assert found == ([source] if source else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("color: RED ; ; x", {"color": "red"}),
        ("a:b!important;a:c", {"a": "b!"}),
        ("a:b;a:c ! IMPORTANT", {"a": "c!"}),
        ("\\61 :b\\63 d", {"a": "bcd"}),
        ("a:url(data:x;y)", {"a": "url(data:x"}),
        ("\\0:x;\\110000:y;\\d800:z", {"\ufffd": "z"}),
    ],
)
def test_declarations_are_read(text: str, expected: dict[str, str]) -> None:
    assert declarations(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("#fff", (255, 255, 255, 1.0)),
        ("#0000", (0, 0, 0, 0.0)),
        ("#12345", None),
        ("rgba(1,2,3,.5)", (1, 2, 3, 0.5)),
        ("rgb(1,2)", None),
        ("hsl(120deg 100% 50%)", (0, 255, 0, 1.0)),
        ("nonsense", None),
        ("rgb(a,b,c)", None),
        ("transparent", (0, 0, 0, 0.0)),
    ],
)
def test_colours_are_read(value: str, expected: tuple[float, ...] | None) -> None:
    assert color(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0.0),
        ("-10px", -10.0),
        ("2em", 40.0),
        ("50%", 10.0),
        ("1e2px", 100.0),
        ("auto", None),
        ("1foo", None),
        ("", None),
    ],
)
def test_lengths_are_read(value: str, expected: float | None) -> None:
    assert pixels(value, 20.0) == expected
