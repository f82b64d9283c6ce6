"""Patterns of Tregex's manual and of measures of syntactic complexity, and how often small trees match.

The counts, of different nodes with their captures, are checked by hand. Measures are those of Lu (2010).
"""

TREES = """\
(S (NP (PRP They)) (VP (VBD saw) (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses))))) (. .))
(S (NP (NNP Kim)) (VP (VBZ says) (SBAR (IN that) (S (NP (PRP she))\
 (VP (MD will) (VP (VB come) (PP (IN with) (NP (PRP us)))))))) (. .))
(S (S (NP (NNP Pat)) (VP (VBD sang))) (CC and)\
 (S (NP (NNP Lee)) (VP (VBD danced) (CC and) (VBD laughed))) (. .))
(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP you)) (VP (VB see))) (. ?))
(S (NP (NP (DT the) (JJ old) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD slept)))))\
 (VP (VBD woke) (ADVP (RB up))) (. .))
(FRAG (NP (NNS cats) (, ,) (NNS dogs) (CC and) (NNS birds)))
(S (S (VP (VBG Reading) (NP (NNS books)))) (VP (VBZ helps) (NP (PRP me))) (. .))
(NP (NNS cats))
"""

CLAUSE = (
    "[> ROOT <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP [<# MD|VBP|VBZ|VBD | < CC < (VP <# MD|VBP|VBZ|VBD)])]"
)
_COUNTED = """\
 8 ROOT
16 NP
 1 NP < PP
 1 NP < (PP $ NP)
 5 NP << NNS
 6 NNS >> NP
 3 NP > VP
 3 NP > (VP > S)
 7 NP $ VP
 7 NP $+ VP
 7 VP $- NP
 3 NP $++ /^\\.$/
 3 /^\\.$/ $-- NP
 3 IN . NP
 3 NP , IN
 1 VBD .. NNS
 1 NNS ,, VBD
 2 NP <, DT
 2 DT >, NP
 4 NP <- NNS
 4 NNS >- NP
 2 NP <1 DT <-1 NN
 1 NP <2 (JJ|CC)
 3 NP <: NNS
 2 S <: VP
 5 __ <<: PRP
 5 VP <<, VBD
 2 VP <<- NNS
 2 NNS >>- VP
 4 NP <# NNS
 5 VP <<# VBD
 2 IN ># PP
 3 NP !< (__ !== NNS)
 8 NP !<< NN|NNS
 1 NP == (NP < CC)
 4 NP <= (NP < DT)
 3 S : CC
 2 VP [< MD | < SBAR]
 7 VP ![< NP | < PP]
 2 NP=a < NP=b
 1 NP <, (NNS $+ /,/=comma) <2 =comma
 2 NP=big << (NN=small . IN)
11 VP ?< NP=object
 6 NP=a .. ~a
 4 /^V/=verb $+ NP=object
 1 VBD $.. (CC $.. VBD)
 4 @NP <+(NP) NN
 2 VP <+(VP) PP
 3 NNS .+(/^(CC|NNS|,)$/) NNS=last
 9 /^(N)P$/#1%n < /^(N)N/#1%n
 1 SBAR < (IN < that)
 1 "with glasses"
 2 __ < "the"
 1 FRAG <... { NP }
 0 MD|VBZ|VBP|VBD > (SQ !< VP)
10 VP > S|SINV|SQ
 9 S|SINV|SQ CLAUSE
 7 S|SBARQ|SINV|SQ > ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]
 2 SBAR < (S|SINV|SQ CLAUSE)
 2 ADJP|ADVP|NP|VP < CC
 2 NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]
 1 SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]
 1 S < (VP <# VBG|TO) $+ VP
 1 FRAG > ROOT !<< (S|SINV|SQ CLAUSE)
 3 S < CC | !S < CC
 2 PP < IN | ((NP < CC) > PP)
 3 NP < DT | (< CC | < JJ)
 2 NP=a < CC=b | S=a < CC=b
""".replace("CLAUSE", CLAUSE)
PATTERNS = {line[3:]: int(line[:3]) for line in _COUNTED.splitlines()}
