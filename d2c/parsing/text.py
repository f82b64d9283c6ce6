"""Words and sentences of plain text, with their offsets, by rules for English.

Words are cut as the Penn Treebank cuts them, by NLTK's tokeniser: `can't` is `ca n't`; quotation marks of all
styles are paired and become `` and ''; full-width marks become plain ones; round brackets stay. NLTK would
cut URLs, addresses, hashtags and emoticons, so it sees letters in their place. A sentence ends at a mark,
unless the abbreviation before it and the word after it show otherwise, and where the layout ends it: at empty
lines, items, turns of dialogue, headings. Rules for other languages are objects with the same two methods.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from d2c.models.spelling import CLOSING, FULL_WIDTH, MONEY, OPENING, TYPOGRAPHIC
from d2c.protocols.dparser import LONGEST, TextRules, Word


@contextmanager
def _without_the_rest() -> Iterator[None]:
    """Import modules of NLTK without the rest of their packages.

    `import nltk` imports all of NLTK, and SciPy's statistics and scikit-learn where they are installed, which
    takes two seconds. So, unless NLTK is imported already, the few modules needed are executed in packages
    without an `__init__`: a tenth of a second. Then they are forgotten, so that a later import gets all.
    """
    spec = None if "nltk" in sys.modules else find_spec("nltk")
    if spec is None or not spec.origin:
        yield
        return
    for name in ("nltk", "nltk.tokenize"):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(Path(spec.origin).parent.joinpath(*name.split(".")[1:]))]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]


with _without_the_rest():
    from nltk.tokenize.destructive import NLTKWordTokenizer

_LONGEST_WORD = 40  # characters of an abbreviation
_HELD = 4  # a paragraph may grow to 1/4 of what rules take at once before it is cut
_BREAK = re.compile("\r\n?|\n")
_BOUNDARY = re.compile(r"""[.!?…]["'”’»)\]]*\s+|[。！？]""")  # what may end a sentence

# Contractions without their apostrophe (`dont`): two words all the same, as in the English Web Treebank.
_CLIPPED = re.compile(
    r"(?:do|does|did|is|are|was|were|has|have|had|could|should|would|must|ca|wo|ai)(?=nt$)|it(?=ll$)"
    r"|(?:you|they)(?=(?:re|ve|ll)$)|we(?=ve$)|(?:that|what|there|where|who|how)(?=s$)"
    r"|(?-i:[Ii](?=(?:m|ve)$)|s?he(?=s$))"
    r"|\w+?(?=(?:n't|'d|'ll|'re)$)",  # of I'd've
    re.IGNORECASE,
)
_OPENING = re.compile(r"""(?<![\w.,!?%])'(?=\S)""")  # a quotation mark that opens
_QUOTE = re.compile(f'["‘‚{OPENING}{CLOSING}]')
_OPENERS, _CLOSERS = "([{</=", ".,;:!?…)]}>"  # like blanks: before a mark that opens, behind one that closes
_EITHER = "-‐‒–—'’" + '"' + OPENING + CLOSING  # may stand beside both
_WIDE = str.maketrans(FULL_WIDTH)
_MONEY = str.maketrans(MONEY)  # NLTK knows only $
_FACE = r"[:;]['’]?-?[)(DPp]+(?!\w)"  # :) ;-( :D
# What stays whole: addresses of the web and of mail, paths with a drive, hashtags, names as in @name, AT&T,
# words that begin with an apostrophe, arrows, rules and comparisons, C#, emoticons. An alternative that
# begins with a certain character has its lookbehind after that character, which saves time.
_WHOLE = re.compile(
    r"""(?:(?:https?|ftp)://|www\.)(?:[^\s<>"“”()]|\([^\s<>"“”()]*\))*
        (?:[^\s<>"“”.,:;!?'’()\]}]|\([^\s<>"“”()]*\))
    | (?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+
    | (?<![\w.-])(?:\w[\w-]*\.)+[a-z]{2,}/[^\s<>"“”]*[^\s<>"“”.,:;!?'’)\]}]
    | (?<!\w)[A-Za-z]:[\\/][^\s<>"“”|?*]*[^\s<>"“”|?*.,:;!'’)\]}]
    | (?<![\w\#&@])[\#@](?=\w*[^\W\d_])\w+
    | [A-Z](?<![\w&].)\w*(?:&\w+)+(?![\w;&])
    | ['’](?<![\w'’].)(?:(?i:em|tis|twas|cause|til|till|bout|n|round|cuz)\b(?!['’])|\d\d(?:s\b|(?![\w'’])))
    | ['’](?<!\S.)n['’](?!\S)
    | <?--?>
    | [-`=!<>](?<!\S.)(?:(?<=<)--?|(?<=-)--+|(?<=`)``+|=+|(?<==)=*>)(?!\S)
    | [CFJ](?<!\w.)\#(?!\w)
    | (?<!\S)"""
    + _FACE,
    re.VERBOSE,
)
# Where a sentence may end: marks, also `. . .`, then quotation marks and brackets that close, footnotes
# (`2000.[7]`, `July.¹`, `July.1`) and emoticons. Full-width marks need no blank behind them.
_NOTE = r"(?:\[\d{1,3}\]|[¹²³⁰⁴-⁹])+"
_END = re.compile(
    r"""(?<![.!?…])(?P<marks>[.!?…]++(?:\s\.[.!?]*+(?!\w))*+)(?P<closed>["'”’»)\]}]*)"""
    rf"""(?:{_NOTE}|(?P<bare>(?:(?<=[^\W\d_]{{3}}\.)|(?<=[.!?]["”)]))\d{{1,2}}))?(?:\s+{_FACE})?(?!\S)"""
    r"""|(?:[。！？｡]|．(?!\d))+["'”’»)\]}）]*"""
)
_LAST = re.compile(r"""[^\s"“(\[{]*$""")  # the word before the marks
_NEXT = re.compile(r"""\s+["'“‘`(\[]*(\S\w*)""")  # the word after them
_SAID = re.compile(  # the speaker after a mark that ends a quotation: "Why?" Anna asked.
    r"""\s+(?:I|(?:[A-Z][\w.'’-]*\s+){0,2}[A-Z][\w'’-]*)\s+(?:said|asked|told|replied|cried|shouted|called|whispered|yelled"""
    r"""|wondered|demanded|exclaimed|screamed|answered|added)(?=[.,;:!?]|\s+(?:him|her|me|us|them|again|as|with|to)\b)"""
)
_ELLIPSIS = re.compile(r"\.(?:\s?\.)+|\.*…+")

# Abbreviations that never end a sentence, not before a number, or only before words that often begin one.
_NEVER = re.compile(
    "e\\.g|i\\.e|cf|vs|viz|mr|mrs|ms|messrs|dr|drs|prof|gen|sen|rep|gov|capt|lt|col|sgt|rev|hon|esp|ft|mt"
)
_BEFORE_NUMBER = re.compile(
    "nos?|figs?|eqs?|secs?|refs?|chap|ch|vols?|pp?|art|approx|ca|tel|fax|ph|apt|rm|bldg"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thur?s?|fri|sat|sun"
)
_NOTED = re.compile(  # a full stop before a footnote that ends the sentence, and one in `"I know." and left`
    r"""\.(?:(?<=[^\W\d_]{2}\.)(?=["'”’]+\s+[a-z])"""
    rf"|(?={_NOTE}\s*$)|(?<=[^\W\d_]{{3}}\.)(?<!\b(?i:fig|vol|sec)\.)(?=\d{{1,2}}\s*$))"
)
_OFTEN_LAST = re.compile(r"etc|al|[ap]\.m")  # a sentence ends in these, if a capital follows
_KNOWN = re.compile("jr|sr|inc|corp|co|ltd|st|approx|ca|est|jan|feb|aug|sept|oct|nov|dec")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
# Abbreviations that end a sentence only before a capital: B.Sc., dept., Calif., 2 oz.
_DEGREE = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")
_SHORT = re.compile("dept|ave|blvd|rd|hwy|ext|incl|excl|max|min|univ|assn|bros|div|misc|att|encl|orig|tel")
_STATE = re.compile(
    "(?:[DRI]-)?(?:Ala|Ariz|Ark|Calif|Colo|Conn|Del|Fla|Ga|Ill|Ind|Kan|Ky|La|Mass|Md|Mich|Minn|Miss|Mo|Neb|Nev"
    "|Okla|Ore|Pa|Tenn|Tex|Va|Vt|Wash|Wis|Wyo)"
)
_UNIT = re.compile(r"[\d½¼¾]\s?(?:tsps?|tbsps?|oz|lbs?|min|yds?|gals?|pts?|qts?|in|sq|cu)$", re.IGNORECASE)
_TIMES = re.compile(  # a day or a zone: at 5 p.m. Monday, 5 p.m. EST
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[A-Z]{1,3}T|UTC|Eastern|Central|Mountain|Pacific"
)
_NUMBER = re.compile(  # of a section, of an item of a list: 1. 2.1. iv. a) (B)
    r"[(\[]?(?:\d{1,3}(?:\.\d{1,2})*|[ivx]{1,5}|[IVX]{1,5}|[^\W\d_])[.)\]]+"
)
_STARTERS = re.compile(  # words that begin sentences
    "A|An|The|This|That|These|Those|He|She|It|We|They|You|I|There|Here|His|Her|Its|Our|Their|My|Your|In|On|At|But"
    "|And|Or|So|If|When|While|As|After|Before|What|Who|Why|How|Where|Not|No|Yes|To|For|From|By|With"
    "|However|Then|Now|Later|Please|Thanks?|Is|Are|Was|Were|Do|Does|Did|Can|Could|Would|Will"
)

# In wrapped text, lines are filled, and sentences go on in the next line.
_NARROW = 40  # characters: nobody wraps text at fewer
_LETTER = re.compile(  # lines of a letter that do not go on in the next line: Dear Anna, Kind regards, --
    r"(?:dear|hi|hello|hey)\b.{0,40},$|--$"
    r"|(?:\w+ ){0,3}(?:regards|wishes|sincerely|faithfully|truly|cheers|thanks|love),$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"^(?:>\s?)*")  # marks of quoted mail
_ITEM = re.compile(  # the beginning of an item: a bullet, a number (of a section, say), a time, a speaker
    r"[-*•‣▪◦●○■□►➢→✓✔–—·#]+\s|[(\[]?(?:\d{1,3}[.)\]]|[^\W\d_][)\]])\s"
    r"|\d{1,3}(?:\.\d{1,3})+\.?\s+(?![a-z])|\[\d+:\d\d(?::\d\d)?(?:[.,]\d+)?\]\s|\d+:\d\d:\d\d(?:[.,]\d+)?\s"
    r"|[A-Z][\w.'’-]*(?:\s\w[\w.'’-]*){0,2}:\s"
)
_RULE = re.compile(r"([-=*_~#+])\1{2,}")  # a line between parts, or below a title
_ENDED = re.compile(r"""[.!?…。！？]["'”’»“«」』)）\]]*$""")
_OPEN = re.compile(  # what a heading does not end in
    r"(?:[,;–—-]|\b(?:an?|the|and|or|but|of|to|in|on|at|by|for|from|with|as|is|are|was|were|that|than"
    "|which|who|when|if))$"
)
_WORDS: Any = NLTKWordTokenizer()  # its rules are of several types
_OTHERWISE = {"[?!]": re.compile("[?!]+"), "([^'])' ": re.compile(r"([^'])'(?=\s)")}  # instead of NLTK's
_WORDS.PUNCTUATION = [
    *((_OTHERWISE.get(rule.pattern, rule), by) for rule, by in _WORDS.PUNCTUATION),
    (re.compile("…+"), r" \g<0> "),
    (_NOTED, " . "),
]


class Line(NamedTuple):
    """A line of a file, with its line break, or a sentence: the number of its line, from 1, how many
    characters are before it, its text, and whether it begins inside a quotation."""

    number: int
    begin: int
    text: str
    quoted: bool = False


class PennRules:
    """Rules for English, which is cut as in the Penn Treebank.

    abbreviations: words that end in a full stop without ending a sentence
    """

    longest = LONGEST

    def __init__(self, abbreviations: Iterable[str] = ()) -> None:
        self._abbreviations = {word.lower().removesuffix(".") for word in abbreviations}

    def words(self, text: str, quoted: bool = False) -> Iterator[Word]:
        """Yield the words of a line. If it has several sentences, the mark that ends each is a word, too.

        quoted: whether the line begins inside a quotation
        """
        plain = _paired(text, quoted)
        for begin, end in self._sentences(plain):
            for form, first, last in self._words(plain[begin:end]):
                yield form, begin + first, begin + last

    def _words(self, text: str) -> Iterator[Word]:
        plain = text.replace("’", "'")
        if not plain.isascii():
            plain = plain.translate(_WIDE)
        masked, end = _WHOLE.sub(lambda found: "x" * len(found[0]), plain).translate(_MONEY), 0
        for form in _WORDS.tokenize(masked):
            start = end
            while text[start].isspace():
                start += 1
            end = start + len(form)
            if masked[start:end] != plain[start:end]:
                form = plain[start:end]
            elif clipped := _CLIPPED.match(form):
                yield clipped[0], start, start + clipped.end()
                form, start = form[clipped.end() :], start + clipped.end()
            elif form == "'" and _OPENING.match(plain, start):
                form = "`"
            yield TYPOGRAPHIC.get(form, form), start, end

    def sentences(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the first character of each sentence of a paragraph, and the one after its last."""
        return self._sentences(_paired(text))

    def _sentences(self, text: str) -> Iterator[tuple[int, int]]:
        begin, end = 0, len(text.rstrip())
        while begin < end:
            while text[begin].isspace():
                begin += 1
            stops = (
                found.end() for found in _END.finditer(text, begin, end) if self._ends(text, begin, found)
            )
            yield begin, (begin := next(stops, end))

    def _ends(self, text: str, begin: int, found: re.Match[str]) -> bool:
        """Return whether the sentence that begins at `begin` ends at the marks found."""
        following = _NEXT.match(text, found.end())
        if following is None:
            return True
        word, marks = following[1], found["marks"]
        if marks is None:
            return True
        if _ELLIPSIS.fullmatch(marks):
            return not word[0].islower()
        if marks != ".":
            said = word[0].islower() or _SAID.match(text, found.end())
            return not (said and found["closed"])
        before = text[max(begin, found.start() - _LONGEST_WORD) : found.start()]
        last = _LAST.findall(before)[0].lstrip("'‘")
        if not word[0].isupper() and _goes_on(before, last, found["closed"], word):
            return False
        last = last.lower()
        if found["bare"] and not (word[0].isupper() and self._is_word(last)):
            return False
        if _NEVER.fullmatch(last) or _NUMBER.fullmatch(text, begin, found.end()):
            return False
        if _BEFORE_NUMBER.fullmatch(last) and (word[0].isdigit() or word[0] == "+"):
            return False
        if _OFTEN_LAST.fullmatch(last.lstrip("0123456789.:")):  # 3p.m.
            return word[0].isupper() and not _TIMES.fullmatch(word)
        if last in self._abbreviations or _KNOWN.fullmatch(last) or _INITIALS.fullmatch(last):
            return _STARTERS.fullmatch(word) is not None
        return True

    def _is_word(self, last: str) -> bool:
        """Return whether a word in lower case is not an abbreviation."""
        known = _NEVER, _BEFORE_NUMBER, _OFTEN_LAST, _KNOWN, _SHORT
        return last not in self._abbreviations and not any(one.fullmatch(last) for one in known)


def _quotes(text: str, inside: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the place of each quotation mark, and “ or ” for it, or ‘ or ' if it is a single one.

    inside: whether a quotation is open before the text
    The characters beside a mark show whether it opens. If they do not, `"` closes an open quotation, or else
    opens one, and other marks do what their form says.
    """
    end = len(text.rstrip())
    for found in _QUOTE.finditer(text):
        at, mark = found.start(), found[0]
        opens = _opens(text[max(0, at - 1) : at], text[at + 1 : at + 2])
        if opens is None:
            opens = not inside and at + 1 < end if mark == '"' else mark in OPENING + "‘‚"
        if mark in "‘‚":
            yield at, "‘" if opens else "'"
        else:
            inside = opens
            yield at, "“" if opens else "”"


def _opens(before: str, after: str) -> bool | None:
    """Return whether a quotation mark between two characters ("" at an end) opens; None if unclear."""
    free, ended = before.isspace() or before in _OPENERS, after.isspace() or after in _CLOSERS
    if free != ended:
        return free
    if free or (before in _EITHER) == (after in _EITHER):
        return False if before.isdigit() else None
    return before in _EITHER


def _paired(text: str, inside: bool = False) -> str:
    """Return the text with its quotation marks replaced by those of `_quotes`."""
    if not (marks := [*_quotes(text, inside)]):
        return text
    letters = [*text]
    for at, mark in marks:
        letters[at] = mark
    return "".join(letters)


def _goes_on(before: str, last: str, closed: str, word: str) -> bool:
    """Return whether a sentence goes on after a full stop with a word that has no capital.

    before: text up to the stop, of which `last` is the last word
    closed: quotation marks and brackets after the stop
    """
    if word[0].islower() and closed[-1:] in (*"\"'”’",) and not word.startswith("http"):
        return True
    short = _STATE.fullmatch(last) or _SHORT.fullmatch(last.lower()) or _DEGREE.fullmatch(last)
    return bool(short or _UNIT.search(before))


PENN = PennRules()


def words_of(text: str, rules: TextRules = PENN, quoted: bool = False) -> Iterable[Word]:
    """Return the words of a sentence, each with its first character and the one after its last.

    quoted: whether it begins inside a quotation, which only the rules for English use

    Raises ValueError for a sentence that is too long.
    """
    if len(text) > rules.longest:
        raise ValueError(f"{len(text):,} characters without an end of a sentence: too long to be cut")
    return rules.words(text, quoted) if isinstance(rules, PennRules) else rules.words(text)


def split_sentences(lines: Iterable[Line], rules: TextRules = PENN) -> Iterator[Line]:
    """Yield the sentences of free text, each as a line of its own; one paragraph is held at a time.

    An empty line ends a sentence; other line breaks do so where the layout shows it.
    """
    for paragraph in split_paragraphs(lines, rules):
        yield from _sentences(paragraph, rules)


def split_paragraphs(lines: Iterable[Line], rules: TextRules) -> Iterator[list[Line]]:
    """Yield paragraphs, the lines between empty ones; very long ones in parts that end with a sentence."""
    held: list[Line] = []
    size, most = 0, rules.longest // _HELD
    for line in chain.from_iterable(_cut_at_stops(line, most) for line in lines):
        blank = not line.text.strip()
        apart = blank or len(line.text) > rules.longest
        if held and (apart or held[-1].begin + len(held[-1].text) != line.begin):
            yield held
            held, size = [], 0
        if not blank:
            held.append(line)
            size += len(line.text)
        if size > most:
            *whole, last = _sentences(held, rules)
            if whole:
                text = "".join(line.text for line in held)
                yield [held[0]._replace(text=text[: last.begin - held[0].begin])]
                held, size = [last], len(last.text)
            if size > most:  # a sentence without an end
                yield held
                held, size = [], 0
    if held:
        yield held


def _sentences(paragraph: list[Line], rules: TextRules) -> Iterator[Line]:
    """Yield the sentences of a paragraph; the last one keeps the white space that follows it."""
    text = "".join(line.text for line in paragraph)
    begin, number, counted = paragraph[0].begin, paragraph[0].number, 0
    cuts = [0, *_cuts(text), len(text)]
    spans = [
        (first + start, first + end)
        for first, last in pairwise(cuts)
        for start, end in (
            rules.sentences(text[first:last]) if last - first <= rules.longest else [(0, last - first)]
        )
    ]
    quotes = [(at, mark == "“") for at, mark in _quotes(text) if mark in "“”"]
    for i, (start, end) in enumerate(spans):
        number += sum(1 for _ in _BREAK.finditer(text, counted, start))
        counted = start
        before = bisect_left(quotes, (start,))
        quoted = before > 0 and quotes[before - 1][1]
        yield Line(number, begin + start, text[start : end if i + 1 < len(spans) else None], quoted)


def _cuts(text: str) -> Iterator[int]:
    """Yield where a line of a paragraph begins a sentence: items, turns of dialogue, lines after headings.

    A line is wrapped if the first word of the next line did not fit; such a line break means nothing.
    """
    lines = text.splitlines(keepends=True)
    plain = [line.strip() for line in lines]
    width = max(_NARROW, *map(len, plain))
    short = len([*filter(None, plain)]) > 2 and width == _NARROW and not any(map(_ENDED.search, plain))
    items = [bool(line and _ITEM.match(f"{line} ")) for line in plain]
    several, begin = sum(items) > 1, 0
    for i, (before, after) in enumerate(pairwise(plain)):
        begin += len(lines[i])
        if not before or not after:
            continue
        wrapped = len(before) + 1 + len(after.split()[0]) > width
        quoted = _QUOTED.findall(before)[0]
        deeper = quoted.count(">") != _QUOTED.findall(after)[0].count(">")
        if deeper or _RULE.fullmatch(before) or _RULE.fullmatch(after):
            begins = True
        elif items[i + 1]:
            begins = several or not wrapped or before[-1] == ":" or bool(_ENDED.search(before))
        else:
            title = after.lstrip("\"'“‘`([")[:1].isupper()
            heading = (title or short) and not (_OPEN.search(before) or _ENDED.search(before))
            begins = not wrapped and (heading or bool(_LETTER.match(before, len(quoted))))
        if begins:
            yield begin


def _cut_at_stops(line: Line, most: int) -> Iterator[Line]:
    """Cut a line of more than `most` characters where sentences may end; no piece is longer than that unless
    no sentence may end within it."""
    begin = end = 0
    stops = (stop.end() for stop in _BOUNDARY.finditer(line.text)) if len(line.text) > most else ()
    for following in chain(stops, [len(line.text)]):
        if following - begin > most and end > begin:
            yield Line(line.number, line.begin + begin, line.text[begin:end])
            begin = end
        end = following
    yield Line(line.number, line.begin + begin, line.text[begin:])
