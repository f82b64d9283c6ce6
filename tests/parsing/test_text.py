"""Words and sentences of text, with their offsets."""

from __future__ import annotations

import io
import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from d2c.models.spelling import FULL_WIDTH
from d2c.parsing.input import read_sentences, sentence_of_line, sentences_of
from d2c.parsing.sentence import Offsets
from d2c.parsing.text import PENN, Line, PennRules, split_sentences, words_of
from d2c.protocols.dparser import Word

PLAIN = str.maketrans(FULL_WIDTH | dict.fromkeys("‘’‚", "'"))


def lines_of(text: str) -> list[Line]:
    result, begin = [], 0
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        result.append(Line(number, begin, line))
        begin += len(line)
    return result


def split(text: str, *abbreviations: str) -> list[tuple[int, str]]:
    found = [*split_sentences(lines_of(text), PennRules(abbreviations))]
    assert all(text.startswith(line.text, line.begin) for line in found)
    return [(line.number, line.text.strip()) for line in found]


class Words(NamedTuple):
    line: int
    forms: tuple[str, ...]
    offsets: Offsets


def cut(text: str, begin: int = 0, number: int = 1) -> Words:
    sentence = sentence_of_line(Line(number, begin, text), "x.txt", words_of, PENN)
    assert sentence.offsets is not None
    return Words(sentence.line, sentence.tokens.forms, sentence.offsets)


def test_words_are_those_of_the_penn_treebank() -> None:
    text = 'He said: "I can\'t (see p53-deficient mice, e.g. in Fig. 3)."\n'
    words = cut(text, 100, 7)
    assert words.line == 7
    assert words.forms == (
        *("He", "said", ":", "``", "I", "ca", "n't", "(", "see", "p53-deficient", "mice", ",", "e.g."),
        *("in", "Fig.", "3", ")", ".", "''"),
    )
    assert words.offsets[:7] == (
        (100, 102),
        (103, 107),
        (107, 108),
        (109, 110),
        (110, 111),
        (112, 114),
        (114, 117),
    )
    assert words.offsets[-2:] == ((158, 159), (159, 160))
    assert cut("\n").forms == ()
    assert cut("``a'' [b]").forms == ("``", "a", "''", "[", "b", "]")


def test_a_line_of_several_sentences_has_the_words_of_each() -> None:
    words = cut(" Best pie ever. 10/10 would buy (see sec. 4).", 5)
    assert " ".join(words.forms) == "Best pie ever . 10/10 would buy ( see sec. 4 ) ."
    assert words.offsets[2:5] == ((15, 19), (19, 20), (21, 26))


def test_typographic_marks_are_those_of_the_penn_treebank() -> None:
    words = cut("“It isn’t John’s,” he said; ‘we’ll see’.")
    assert words.forms == (
        *("``", "It", "is", "n't", "John", "'s", ",", "''", "he", "said", ";"),
        *("`", "we", "'ll", "see", "'", "."),
    )
    assert words.offsets[:4] == ((0, 1), (1, 3), (4, 6), (6, 9))
    assert words.offsets[7:9] == ((17, 18), (19, 21)) and words.offsets[-2:] == (
        (38, 39),
        (39, 40),
    )


def test_a_face_is_a_word() -> None:
    words = cut("hi :) I’m late ;-) sorry :(( (at 8:30) ok:) Two :Do. x :p")
    assert words.forms == (
        *("hi", ":)", "I", "'m", "late", ";-)", "sorry", ":((", "(", "at", "8:30", ")"),
        *("ok", ":", ")", "Two", ":", "Do", ".", "x", ":p"),
    )
    assert words.offsets[1:4] == ((3, 5), (6, 7), (7, 9))


def test_words_that_have_lost_their_apostrophe_are_two() -> None:
    text = "Im sure you cant, thats it: DONT, we were; its Hes, an IM, she wants. lets #dont"
    words = cut(text)
    assert words.forms == (
        *("I", "m", "sure", "you", "ca", "nt", ",", "that", "s", "it", ":", "DO", "NT", ","),
        *("we", "were", ";", "its", "Hes", ",", "an", "IM", ",", "she", "wants", ".", "lets", "#dont"),
    )
    assert words.offsets[:6] == ((0, 1), (1, 2), (3, 7), (8, 11), (12, 14), (14, 16))


def test_an_ellipsis_is_a_word() -> None:
    words = cut("It’s late… he said.")
    assert words.forms == ("It", "'s", "late", "...", "he", "said", ".")
    assert words.offsets[2:4] == ((5, 9), (9, 10))


@given(st.text(alphabet=st.sampled_from("aZ9 .,;:!?'\"`()[]<>-$%&\u00a0\t“”‘’nts«»„‚…é\x1c猫。，（￥¹")))
def test_every_word_is_where_its_offsets_say(text: str) -> None:
    words = cut(text, 5)
    for form, (begin, end) in zip(words.forms, words.offsets, strict=True):
        there = text[begin - 5 : end - 5].translate(PLAIN)
        if form in ("``", "''"):
            assert there in ("``", "''", *'"“”«»„')
        else:
            assert there.replace("`", "'") in (form.replace("`", "'"), form.replace("...", "…"))
    covered = {i for begin, end in words.offsets for i in range(begin, end)}
    assert all(character.isspace() or i in covered for i, character in enumerate(text, 5))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("£3.50 or €1.2bn.", "£ 3.50 or € 1.2bn ."),
        ("20€, £5-£10, A$5, ¥.", "20 € , £ 5- £ 10 , A $ 5 , ¥ ."),
        ("AT&T has R&D, a & b, x&y &amp;", "AT&T has R&D , a & b , x & y & amp ;"),
        ("I'd've gone, she shouldn't've.", "I 'd 've gone , she should n't 've ."),
        ("'Tis so: give 'em '80s rock 'n' roll, '68.", "'Tis so : give 'em '80s rock 'n' roll , '68 ."),
        ("Really?! No!!! What??", "Really ?! No !!! What ??"),
        ("He said 'but I know', the dogs' bowls.", "He said ` but I know ' , the dogs ' bowls ."),
        ("(www.x.org/A_(b) or http://x.org/a).", "( www.x.org/A_(b) or http://x.org/a ) ."),
        ("p <= 0.05 a->b ``` C# => ----- ok", "p <= 0.05 a->b ``` C# => ----- ok"),
        ('"I know." and "So?" he said.', "`` I know . '' and `` So ? '' he said ."),
        ("in July.1", "in July . 1"),
        ("in July.¹² (see fig.1)", "in July . ¹² ( see fig.1 )"),
        ("see fig.1", "see fig.1"),
        ("He left.[1][12]", "He left . [ 1 ] [ 12 ]"),
        ("in 1888.[2]", "in 1888 . [ 2 ]"),
        ("the dogs'\nbowls, the cats'\u00a0beds", "the dogs ' bowls , the cats ' beds"),
        ("I like it，（very）「much」、yes：no；！", "I like it , ( very ) `` much '' , yes : no ; !"),
        ("It is good。Is it？Yes！（No．）Well", "It is good . Is it ? Yes ! ( No . ) Well"),
    ],
)
def test_words_that_nltk_would_cut_otherwise(text: str, words: str) -> None:
    assert " ".join(cut(text).forms) == words


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u00a0", "\u3000"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('He said: "I go", "we go" ("you"), "no".', "He said : O I go C , O we go C ( O you C ) , O no C ."),
        (
            'No—"go"—then -- "go"-- and said:"Go".',
            "No — O go C — then -- O go C -- and said : O Go C .",
        ),
        ('a 5" pipe, 5"x6" and "..." or "\'Tis"', "a 5 C pipe , 5 C x6 C and O ... C or O 'Tis C"),
        ("„Wort“ und »Wort« et « oui » “yes” ”Hej”", "O Wort C und O Wort C et O oui C O yes C O Hej C"),
        ("‹oui› „it is ‚so‘ now“ “‘Go’ he said”", "O oui C O it is ` so ' now C O ` Go ' he said C"),
    ],
)
def test_quotation_marks_are_paired(text: str, words: str, blank: str) -> None:
    found = " ".join(cut(text.replace(" ", blank)).forms)
    assert found == words.replace("O ", "`` ").replace("C", "''")


def test_quotation_marks_are_paired_over_a_paragraph() -> None:
    text = '"I know. I go,"he said. " I know . I go , " he said . " Fine . "\n\n" I know. I go '
    found = [" ".join(one.tokens.forms) for one in sentences_of(io.StringIO(text, newline=""), "split")]
    assert found == [
        *("`` I know .", "I go , '' he said .", "`` I know .", "I go , '' he said .", "`` Fine .", "''"),
        *("`` I know .", "I go"),
    ]


def test_sentences() -> None:
    text = "Dr. Smith saw\nit. He left (see Fig. 3). Who?\n\nA title\n \nEnd"
    assert split(text, "Dr.", "Fig.") == [
        (1, "Dr. Smith saw\nit."),
        (2, "He left (see Fig. 3)."),
        (2, "Who?"),
        (4, "A title"),
        (6, "End"),
    ]
    assert split("") == [] and split("\n\n") == []


def test_long_paragraphs_are_cut_as_they_come() -> None:
    sentence = "The cat saw the dog near the house. "
    lines = (Line(i + 1, i * len(sentence), sentence[:-1] + "\n") for i in range(10**9))
    found = [*islice(split_sentences(lines), 5000)]
    assert {line.text.strip() for line in found} == {sentence.strip()}
    assert [line.number for line in found] == [*range(1, 5001)]
    assert [line.begin for line in found] == [i * len(sentence) for i in range(5000)]
    endless = (Line(i + 1, i * 50, "no end at " * 4 + "no end at\n") for i in range(10**9))
    first = next(split_sentences(endless))
    assert (first.number, first.begin) == (1, 0) and 1 << 16 < len(first.text) < (1 << 16) + 100


class FewAtOnce:
    """Rules that take few characters, as a tokeniser of Japanese does."""

    longest = 20

    def words(self, text: str) -> list[Word]:
        assert len(text) <= self.longest
        return [(text, 0, len(text))]

    def sentences(self, text: str) -> list[tuple[int, int]]:
        assert len(text) <= self.longest
        return [found.span() for found in re.finditer(r"[^。\s][^。]*。?", text)]


@pytest.mark.parametrize("end", ["", "\n"])
def test_rules_get_no_more_than_they_take(end: str) -> None:
    text = ("晴れた。" + end) * 100 + "晴" * 21 + "。" + end + "雨。\n"
    lines, rules = lines_of(text), FewAtOnce()
    found = [line.text.strip() for line in split_sentences(lines, rules)]
    assert found == ["晴れた。"] * 100 + ["晴" * 21 + "。", "雨。"]
    with pytest.raises(ValueError, match="22 characters"):
        words_of(found[100], rules)
    assert words_of(found[101], rules) == [("雨。", 0, 2)]


def test_lines_left_out_end_a_paragraph() -> None:
    lines = lines_of("One two\nthree. Four\nfive")
    found = [*split_sentences([lines[0], lines[2]])]
    assert [(line.number, line.text.strip()) for line in found] == [(1, "One two"), (3, "five")]


def test_what_stays_whole() -> None:
    text = (
        "See http://d2c.org/a_(b)?c=1&d#e, www.d2c.org; or mail jo.doe+x@d2c.co.uk: #nlp2 @jo's C:\\a.txt\n"
    )
    assert cut(text).forms == (
        *("See", "http://d2c.org/a_(b)?c=1&d#e", ",", "www.d2c.org", ";", "or", "mail", "jo.doe+x@d2c.co.uk"),
        *(":", "#nlp2", "@jo", "'s", "C:\\a.txt"),
    )
    text = "At 10:30, e.g. a.txt (d2c.org/x) cost $1,234.50, i.e. -3.5%, not .5, 3/4 or # 5 & #5."
    assert cut(text).forms == (
        *("At", "10:30", ",", "e.g.", "a.txt", "(", "d2c.org/x", ")", "cost", "$", "1,234.50", ",", "i.e."),
        *("-3.5", "%", ",", "not", ".5", ",", "3/4", "or", "#", "5", "&", "#", "5", "."),
    )
    assert cut("“(https://d2c.org).”").forms == (
        "``",
        "(",
        "https://d2c.org",
        ")",
        ".",
        "''",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Cats (e.g. Tom) and dogs, i.e. Rex, etc. are here.|Others, etc.|The end.",
        "J. R. R. Tolkien and J.R.R. Tolkien met Mr. Smith vs. Dr. No at 5 p.m. on Monday.|Who?",
        "He left the U.S.|He is at 3.5 km, see Fig. 3 of the U.S. Government.|See http://a.b/c.|Done.",
        "She said no.|He did not.|No. 5 is alive.",
        "They saw the cat.|She slept.|I said no.|She left.|He arrived at 5 p.m.|Bob left.",
        "He came at 5 p.m. Monday (at 6 p.m. EST).|He said he sat.|Mary didn't.|Tom did.",
        "It is Dec. 12.|On Sat. 13 they met Rev. Bill in Ft. Worth.",
        "It grew in 1999.[3]|The rest fell, too.[4][5]|We were glad! :)|They left. ;-)|Done.",
        "What???|Really?!|Well...|Yes.|And... no.|I know…|So?",
        "Well . . .|I know.|But . . . maybe.|He left. . . .|She slept.|Why . . .?|No.",
        "“Yellow ones?” asked her niece.|“Stop!” he cried.|“Why?”|“No!”|The end.",
        "“Why?” Anna asked.|“Stop!” I cried, and ran.|'Go!' Mr. Hill told us.|“No?”|Tom said nothing.",
        "Add 1/2 tsp. salt and 2 oz. of it for 20 min. or so.|It is 3 in.|He is in.|of",
        "At 3p.m. on Monday she got a B.Sc. in maths.|The Calif. man (D-Mass.) spoke.",
        'He said "I know." and left.|"It is good." he said.|"No!" he said.|He said "yes."|http://x.org',
        "ii. roman two.|IV. Results.|2.1.3. Scope of it.|Tel. +44 20 is it.|See refs. 3-5 and chap. 2.",
        "It was sold in July.1|Each year it grew.¹|So it is.",
        "See Fig.1 Each is new.|He lives in Apt. 3B (Rm. 4).",
        "„Ich gehe.“|Er ging.|»Ja.«|So.|It is fig.1 and July.1 and so on.",
        "The accounts dept. and Oak Ave. and so on (see att. list).|Max. 5.|It is at max.|They left.",
    ],
)
def test_no_sentence_ends_with_an_abbreviation(text: str) -> None:
    assert [sentence for _, sentence in split(text.replace("|", " "))] == text.split("|")


def test_letters() -> None:
    text = "Dear Anna,\nThanks for it.\n\nKind regards,\nAnna\n--\nAnna Müller\n\nBob wrote:\n"
    text += "> Hi,\n> Who?\n>> Me.\nNo.\n"
    assert [sentence.replace("\n", "|") for _, sentence in split(text)] == [
        *("Dear Anna,", "Thanks for it.", "Kind regards,", "Anna", "--", "Anna Müller"),
        *("Bob wrote:", "> Hi,", "> Who?", ">> Me.", "No."),
    ]


@pytest.mark.parametrize("bullet", "•◦●○■□▪‣►➢→✓✔*-–")
def test_items(bullet: str) -> None:
    text = f"{bullet} buy milk and eggs for the cake\n{bullet} call Dr. Smith about the results of it\n"
    assert split(text) == [(1, text.split("\n")[0]), (2, text.split("\n")[1])]


def test_a_line_of_marks_is_a_line_of_its_own() -> None:
    text = "A Title of so many Words that no more fit\n=====\nIt is\nwrapped here.\n***\nthe end\n-----------"
    assert [sentence.replace("\n", "|") for _, sentence in split(text)] == [
        *("A Title of so many Words that no more fit", "=====", "It is|wrapped here.", "***", "the end"),
        "-----------",
    ]


MIXED = st.lists(
    st.sampled_from(
        [
            *"aB1 .?!…:;-()\"”“'\n\r\t\u3000\u2028\x0b",
            "\r\n",
            "\n\n",
            "Mr. ",
            "p.m.",
            "A: ",
            "- ",
            "1. ",
            "é",
            "猫。",
        ]
    )
).map("".join)


@given(MIXED, st.sampled_from([(), ("Mr.", "p.m.")]))
def test_sentences_are_all_of_the_text_in_order(text: str, abbreviations: tuple[str, ...]) -> None:
    """Each begins where its offset says, none overlaps another, and nothing but blanks is left out."""
    end = 0
    for line in split_sentences(lines_of(text), PennRules(abbreviations)):
        assert line.begin >= end and not text[end : line.begin].strip()
        assert text.startswith(line.text, line.begin) and line.text.strip()
        assert line.number == 1 + len(re.findall(r"\r\n?|\n", text[: line.begin]))
        end = line.begin + len(line.text)
    assert not text[end:].strip()


@given(st.lists(MIXED, max_size=4))
@example(["aa\u2028a\u2028"])  # the empty line behind it is no third one
def test_paragraphs_are_cut_apart(texts: list[str]) -> None:
    """No matter what comes before or after, so that a stream may be cut at empty lines."""
    begin, expected = 0, list[tuple[int, str]]()
    for text in texts:
        expected += [(begin + line.begin, line.text.rstrip()) for line in split_sentences(lines_of(text))]
        begin += len(text) + 2
    whole = split_sentences(lines_of("".join(f"{text}\n\n" for text in texts)))
    assert [(line.begin, line.text.rstrip()) for line in whole] == expected


def test_a_line_without_end_is_cut_where_sentences_may_end() -> None:
    """1 MB on one line, in windows: the same sentences as of short lines; all at once, NLTK gives up."""
    whole = "Mr. Smith saw the cat. Who slept? "
    found = split(whole * 30_000)
    assert [text for _, text in found] == ["Mr. Smith saw the cat.", "Who slept?"] * 30_000


def test_what_has_no_end_of_a_sentence_is_one_bad_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(
        "They slept. He saw\n" + "no end " * 50_000 + ". She left. It is.\nYes.\n", encoding="utf-8"
    )
    found = [*read_sentences(path, "split")]
    words = [" ".join(sentence.tokens.forms) for sentence in found]
    assert words == ["They slept .", "He saw", "", "She left .", "It is .", "Yes ."]
    why = "350,002 characters without an end of a sentence: too long to be cut"
    assert [sentence.error and (sentence.line, sentence.error.message) for sentence in found] == [
        *(None, None, (2, why), None, None, None)
    ]
    path.write_text("They slept.\n" + "no end " * 50_000 + "\nYes.\n", encoding="utf-8")
    assert [sentence.error is None for sentence in read_sentences(path, "text")] == [True, False, True]
