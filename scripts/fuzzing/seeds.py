"""Good texts of every format that d2c reads, with what real files have; deep, long and comb-like ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from random import Random

from d2c.trees.formats.chunks import Chunk
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.formats.treebanks import FORMATS

BRACKETS = """\
( (S (NP-SBJ-1 (PRP They)) (VP (VBD slept) (S (NP-SBJ (-NONE- *-1)) (VP (TO to)))) (. .)) )
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)
    (ADVP|PRT (RB =up)))
  (. !)))

(ROOT (FRAG (NN né) (-LRB- -LRB-) (NN x) (-RRB- -RRB-)))
(NN bare)
(SBARQ (WHNP-2 (WP Who)) (SQ (VBD did) (NP (PRP you)) (VP (VB see) (NP (-NONE- *T*-2)))) (. ?))
"""
DISCBRACKET = """\
(TOP (S (VP (VB 0=is) (JJ 2=rich)) (NP (NN 1=Mary)) (? 3=?)))
(S (NP (A 0=a) (B 2=b)) (VP (C 1=c) (NP (NP (D 3=-LRB-)))))
(NN 0=bare)
( (VROOT (S (A 0=a)) ($-LRB- 1=")))
"""
EXPORT = """\
#FORMAT 3
#BOT ORIGIN
0 x
#EOT ORIGIN
%% a comment
#BOS 1 2 890 1 %% another
Er\tPPER\t3.Sg\tSB\t500
kommt\tVVFIN\t--\tHD\t500 MO\t500 %% and another
heute\tADV\t--\tMO\t501
.\t$.\t--\t--\t0
#501\tAP\t--\tMO\t500
#500\tS\t--\t--\t0
#EOS 1
#BOS 2
Ja\tITJ\t--\t--\t0
#EOS 2
"""
CONLLU = """\
# sent_id = 1
# text = They slept.
1\tThey\tthey\tPRP\tPRP\t_\t2\tNP#1\t_\t_
2\tslept\tsleep\tVBD\tVBD\tTense=Past\t0\troot\t_\t_
3\t.\t.\t.\t.\t_\t2\tS#1\t_\tSpaceAfter=No

1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tIN\t_\t_\t0\troot|S|VP\t_\t_
2\tlé\t_\tDT\t_\t_\t1\tPP|NP#1\t_\t_
2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_

1\tThe\t_\tDT\tDT\t_\t2\tNP#1\t_\t_
2\tdog\t_\tNN\tNN\t_\t3\tS#1\t_\t_
3\tbarks\t_\tVBZ\tVBZ\t_\t0\troot\t_\t_
4\tnow\t_\tRB\tRB\t_\t3\tVP#2\t_\t_
"""
HISTORICAL = """\
( (CODE <heading>) (ID X,.1))

( (IP-MAT (NP-SBJ *con*) (VBDI sagði-segja)
    (NP-SBJ-1 (PRO-N hann-hann) (CP-REL (WNP-2 0) (C sem-sem) (IP-SUB (NP-ACC *T*-2) (VBPI er-vera))))
    (CODE {x}) (. .-.)) (ID X,.2))
( (FRAG (N-N gu$<dash/>-guð) (N-N $ð-guð)) (ID X,.3))
"""
SINICA = """\
#1:1.[2] VP(evaluation:Dbb:竟然|Head:VP(Head:VH11:生病))#，(COMMACATEGORY)
#2:2.[3] Nab:貓
#3:1.[4] NP(property:V‧的(head:VH11:急促|Head:DE:的)|Head:Nab:聲)#。(PERIODCATEGORY)
"""
FLORESTA = """\
#1 CP1-1 Ele vai (hoje) falar de tudo.
(STA+fcl (SUBJ+pron-pers Ele) (P-+vp (AUX+v-fin vai)) ({) (ADVL+adv hoje) (})
 (-P+vp (MV+v-inf falar)) (PIV+pp (H+prp de) tudo) (.))
#2 CP1-2 Helena Pereira
(UTT+prop Helena_Pereira
#3 CP1-3 Sim . Pois
(UTT+adv Sim)
(.)
(UTT+adv Pois ca)
"""
ALPINO = """\
<?xml version="1.0" encoding="UTF-8"?>
<alpino><alpino_ds id="a" version="1.3"><node cat="top" begin="0" end="4"><node cat="smain" begin="0" end="3">
<node rel="su" index="1" pt="vnw" lemma="ik" postag="VNW(pers)" begin="0" end="1" word="ik"/>
<node rel="hd" pt="ww" begin="1" end="2" word="zié"/><node rel="vc" cat="inf" begin="0" end="3">
<node rel="su" index="1" begin="0" end="1"/><node rel="hd" pos="verb" root="x" begin="2" end="3" word="x"/>
</node></node><node rel="--" pos="punct" begin="3" end="4" word="."/></node><sentence>ik zie x .</sentence>
</alpino_ds></alpino>
"""
TIGER = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<corpus id="x"><head><meta/></head><body><s id="s1"><graph root="s1_VROOT"><terminals>
<t id="1" word="«" pos="$("/><t id="2" word="Den" pos="ART" morph="Acc.Sg" lemma="der"/>
<t id="3" word="Hund" pos="NN"/><t id="4" word="sah" pos="VVFIN"/><t id="5" word="er" pos="PPER">
<secedge label="SB" idref="8"/></t></terminals><nonterminals>
<nt id="7" cat="NP"><edge label="NK" idref="3"/><edge label="NK" idref="2"/></nt>
<nt id="8" cat="S"><edge label="OA" idref="7"/><edge label="HD" idref="4"/><edge label="SB" idref="5"/></nt>
</nonterminals></graph></s><s id="s2"><graph><terminals><t id="a" word="Ja" pos="ITJ"/></terminals>
<nonterminals/></graph></s></body></corpus>
"""
TEXT = """\
They saw the cat with glasses. "Who's there?" she asked (twice), e.g. at 3.14 p.m.

Mr. Smith's e-mail: smith@example.org; see http://example.org/x?y=1 — it costs $3.50... né?
Dogs bark
"""
HEADS = """\
# Head rules.
punctuation  , : . -NONE-
conjunction  CC
default      right
NP           rightdis  NN NNS NP
NP           left
VP           left      VB* VP
S*           right     VP S
PP           leftdis
"""
PRM = """\
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL_FOR_LENGTH -NONE-
# a comment
EQ_LABEL ADVP PRT
EQ_WORD Example example
"""
DISCO_PRM = """\
CUTOFF_LEN 40
LABELED 1
DISC_ONLY 0
DELETE_LABEL ROOT
DELETE_WORD .
EQ_LABEL ADVP PRT
DELETE_ROOT_PRETERMS 0
MAX_ERROR 0
"""

OF_FORMAT = {
    "brackets": BRACKETS,
    "discbracket": DISCBRACKET,
    "export": EXPORT,
    "tigerxml": TIGER,
    "alpinoxml": ALPINO,
    "historical": HISTORICAL,
    "sinica": SINICA,
    "floresta": FLORESTA,
}


def treebank(rng: Random, format_name: str) -> bytes:
    """A good file of a format: one with what real files have, or one that d2c has written."""
    write = FORMATS[format_name].write
    if write is None or rng.random() < 0.6:
        return OF_FORMAT[format_name].encode()
    ctrees = [*parse_discbracket(Chunk(1, DISCBRACKET), "seed")]
    stream = StringIO()
    write([ctree for ctree in ctrees if format_name != "brackets" or ctree.is_continuous()], stream)
    return stream.getvalue().encode()


def _nested(
    opening: str, leaf: str, closing: str, before: str = "", after: str = "\n"
) -> Callable[[int], str]:
    return lambda levels: before + opening * levels + leaf + closing * levels + after


def _deep_export(levels: int) -> str:
    nodes = "".join(f"#{500 + k}\tX\t--\t--\t{501 + k if k + 1 < levels else 0}\n" for k in range(levels))
    return f"#FORMAT 3\n#BOS 1\na\tA\t--\t--\t500\n{nodes}#EOS 1\n"


def _deep_tiger(levels: int) -> str:
    nodes = "".join(
        f'<nt id="n{k}" cat="X"><edge idref="{f"n{k - 1}" if k else "w"}"/></nt>' for k in range(levels)
    )
    return (
        '<corpus><body><s id="s"><graph><terminals><t id="w" word="a" pos="A"/></terminals><nonterminals>'
        f"{nodes}</nonterminals></graph></s></body></corpus>"
    )


def _chain(tokens: int) -> str:
    return "".join(f"{i}\tw\t_\tA\tA\t_\t{i - 1}\tX#1\t_\t_\n" for i in range(1, tokens + 1))


def _comb(opening: str, leaf: str, before: str = "", after: str = "\n") -> Callable[[int], str]:
    """Each node has a token and the next node."""

    def text(tokens: int) -> str:
        leaves = "".join(f" {leaf.replace('@', str(i))})" for i in range(tokens))
        return before + opening * tokens + leaves + after

    return text


def _row(leaf: str, before: str, after: str, between: str = " ") -> Callable[[int], str]:
    return lambda tokens: before + between.join(leaf.replace("@", str(i)) for i in range(tokens)) + after


DEEP: Mapping[str, Callable[[int], str]] = {
    "brackets": _nested("(X ", "(A a)", ")"),
    "discbracket": _nested("(X ", "(A 0=a)", ")"),
    "export": _deep_export,
    "tigerxml": _deep_tiger,
    "alpinoxml": _nested(
        '<node cat="X">',
        '<node begin="0" word="a" pt="A"/>',
        "</node>",
        "<alpino><alpino_ds>",
        "</alpino_ds></alpino>",
    ),
    "historical": _nested("(X ", "(A a-a)", ")", "( ", "(ID X,.1))\n"),
    "sinica": _nested("X(Head:", "A:a", ")", "#1:1.[0] ", "#\n"),
    "floresta": _nested("(X+x ", "(A+a a)", ")", "#1 X\n"),
    "conllu": _chain,
}
COMBS: Mapping[str, Callable[[int], str]] = {
    "brackets": _comb("(X", "(A a)"),
    "discbracket": _comb("(X", "(A @=a)"),
    "historical": _comb("(X", "(A a-a)", "( ", "(ID X,.1))\n"),
    "floresta": _comb("(X+x", "(A+a a)", "#1 X\n"),
    "conllu": lambda tokens: _chain(tokens).replace("X#1", "X|X#1"),
}
LONG: Mapping[str, Callable[[int], str]] = {
    "brackets": _row("(A a)", "(X ", ")\n"),
    "discbracket": _row("(A @=a)", "(X ", ")\n"),
    "export": _row("a\tA\t--\t--\t500", "#FORMAT 3\n#BOS 1\n", "\n#500\tX\t--\t--\t0\n#EOS 1\n", "\n"),
    "tigerxml": _row(
        '<t id="w@" word="a" pos="A"/>',
        '<corpus><body><s id="s"><graph><terminals>',
        "</terminals><nonterminals/></graph></s></body></corpus>",
    ),
    "alpinoxml": _row(
        '<node begin="@" word="a" pt="A"/>',
        '<alpino><alpino_ds><node cat="X">',
        "</node></alpino_ds></alpino>",
    ),
    "historical": _row("(A a-a)", "( (X ", ") (ID X,.1))\n"),
    "sinica": _row("A:a", "#1:1.[0] X(", ")#\n", "|"),
    "floresta": _row("(A+a a)", "#1 X\n(X+x ", ")\n"),
    "conllu": lambda tokens: "".join(
        f"{i}\tw\t_\tA\tA\t_\t{int(i > 1)}\tX#{i}\t_\t_\n" for i in range(1, tokens + 1)
    ),
    "text": _row("word", "", ".\n"),
    "heads": _row("X@", "NP left ", "\n"),
    "prm": _row("DELETE_LABEL X@", "", "\n", "\n"),
}


def extreme(rng: Random, kind: str) -> bytes:
    """A text with deep nesting, a long sentence, or both."""
    shapes, sizes = rng.choice(((DEEP, (500, 20_000)), (COMBS, (500, 5_000)), (LONG, (1_000, 10_000))))
    make = shapes.get(kind, LONG[kind])
    return make(rng.choice(sizes)).encode()
