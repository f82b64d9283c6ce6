"""`d2c decode`: CoNLL-U to c-trees."""

from __future__ import annotations

from pathlib import Path

import click

from d2c.base.counting import many
from d2c.base.errors import Faults, Refusals
from d2c.base.files import file_name, open_output
from d2c.commands.options import (
    FilePath,
    charset_option,
    faults_options,
    jobs_option,
    model_path,
    output_option,
    to_option,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import report_repairs, say
from d2c.models.model import load_route
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.reduction.repair import NOT_NESTED
from d2c.routes.coding import Decode, Signs, code_files
from d2c.trees.formats.conllu import read_conllu, read_conllu_chunks
from d2c.trees.formats.registry import FORMATS, WRITABLE, Place, format_to_write, write_treebank
from d2c.trees.repair import CROSSING, Repairs


@click.command()
@click.argument("conllu", type=FilePath)
@output_option
@click.option(
    "-m",
    "--model",
    type=click.Path(path_type=Path),
    callback=model_path,
    help="A trained model (a name or a directory), which can restore unary nodes.",
)
@click.option(
    "--encoding",
    type=click.Choice(list(ENCODINGS)),
    help="The encoding of the labels, if there is no model.  [default: direct]",
)
@to_option(WRITABLE)
@jobs_option
@charset_option
@faults_options
def decode(
    conllu: Path,
    output: Path,
    model: Path | None,
    encoding: str | None,
    to: str | None,
    jobs: int,
    charset: str | None,
    faults: Faults,
) -> None:
    """Decode CoNLL-U from any d-parser into c-trees. Repairs are counted on standard error.

    Without a model, unary nodes are restored only with the H&N-encoding (spine). Gaps are then kept in
    formats that can hold them (discbracket, export, ...), and closed in brackets. Export and XML files are
    written by a single process.
    """
    if model and encoding:
        raise click.UsageError("the model says the encoding; give one of --model and --encoding")
    repairs, signs, doing = Repairs(), Signs(), f"decoding {file_name(conllu)}"
    closes = False
    if model:
        route = load_route(model)
        to = to or format_to_write(output, "discbracket" if route.gaps_ else "brackets")
    else:
        to = to or format_to_write(output)
        name = encoding or "direct"
        holds, continuous = "gaps" in FORMATS[to].holds, ENCODINGS[name].continuous_only
        route, closes = Reduction(name, continuous=continuous or not holds), not (continuous or holds)
    write = FORMATS[to].write
    if write is None or not write.joinable:
        with open_output(output) as stream:
            refusals = Refusals(faults)
            dtrees = signs.over(refusals.over(read_conllu(conllu, refusals, charset=charset)))
            ctrees = route.decode_all(shown(dtrees, "sentences", doing, [conllu]), repairs)
            write_treebank(ctrees, to, stream, Place(conllu, refusals))
    else:
        code = Decode(route, file_name(conllu), to)
        coded = code_files(code, read_conllu_chunks(conllu, charset), [conllu], output, jobs, faults)
        for batch in shown(coded, "batches", doing, [conllu]):
            if batch.repairs:
                repairs.add(batch.repairs)
            signs.update(batch.signs or ())
    report_repairs(repairs)
    if mismatch := signs.mismatch(route):
        say(f"{file_name(conllu)}: {mismatch}")
    elif closes and (repairs.counts[CROSSING] or repairs.counts[NOT_NESTED]):
        say(f"{file_name(conllu)}: gaps were closed, which {to} cannot hold; --to discbracket keeps them")
    if count := signs["untagged"]:
        tagless = f"{many(count, 'sentence')} without tags, in XPOS or UPOS"
        say(f"{file_name(conllu)}: {tagless}; a model needs them for unary nodes and repairs")
