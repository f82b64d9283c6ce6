"""A d-parser that is two commands, from `train` to `parse`."""

from __future__ import annotations

import shlex
import sys
from itertools import islice
from pathlib import Path

from click.testing import CliRunner

from d2c.base.errors import ParameterError
from d2c.commands.cli import cli
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.scores.brackets import bracket_scores

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_a_command_as_d_parser_is_given_again_for_parsing(tmp_path: Path) -> None:
    code = "import shutil, sys\nshutil.copyfile(sys.argv[1], sys.argv[-1])"
    copy = shlex.join([sys.executable, "-c", code])
    train, dev, model = tmp_path / "train.mrg", tmp_path / "dev.mrg", tmp_path / "model"
    for file, count in ((train, 400), (dev, 60)):
        save_brackets(islice(read_brackets(SAMPLE / file.name), count), file)
    command = f"cmd:{copy} {{dev}} {{model}};{copy} {{model}} {{input}} {{output}}"  # it knows the answers
    arguments = ["train", str(train), "--dev", str(dev), "-o", str(model), "--dparser", command]
    run = CliRunner().invoke(cli, arguments)
    assert run.exit_code == 0, run.output
    source = tmp_path / "dev.conllu"
    assert CliRunner().invoke(cli, ["encode", str(dev), "-o", str(source)]).exit_code == 0
    parse = ["parse", str(model), str(source), "-o", str(tmp_path / "out.mrg")]
    run = CliRunner().invoke(cli, parse)
    assert isinstance(run.exception, ParameterError) and "must be given again" in str(run.exception)
    assert "--parse-command COMMAND" in run.exception.as_option()
    run = CliRunner().invoke(cli, [*parse, "--parse-command", f"{copy} {{model}} {{input}} {{output}}"])
    assert run.exit_code == 0, run.output
    assert "0.00 repairs" in run.output
    run = CliRunner().invoke(
        cli, [*parse, "--parse-command", "sh -c 'sleep 9' {input} {output}", "--timeout", "0.2"]
    )
    assert str(run.exception) == "sh: was ended after 0.2 s, as --timeout says"
    arguments[-1] = "cmd:sh -c 'sleep 9';x {input} {output}"
    run = CliRunner().invoke(cli, [*arguments, "--timeout", "0.2", "--overwrite"])
    assert str(run.exception) == "sh: was ended after 0.2 s, as --timeout says"
    guess, gold = (list(read_brackets(file, clean=True)) for file in (tmp_path / "out.mrg", dev))
    assert bracket_scores(gold, guess).f1 > 97
