"""Models by name, without loading any."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.commands.parse import model_and_inputs, parse
from d2c.models.model import read_model_settings
from d2c.models.names import available, card_of, default, find, missing, passed_over, scores_of

FORMAT = {"format": 2, "route": "cky", "dparser": "gold"}


def make(directory: Path, **card: object) -> Path:
    """What looks like a model with a card, if there is anything to say."""
    directory.mkdir(parents=True)
    (directory / "model.json").write_text(json.dumps(FORMAT))
    if card:
        (directory / "card.json").write_text(json.dumps(card))
    return directory


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two of $D2C_MODELS, and the working directory beside them."""
    both = tmp_path / "one", tmp_path / "two"
    monkeypatch.setenv("D2C_MODELS", os.pathsep.join(map(str, (*both, tmp_path / "absent"))))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return both


def test_names_directories_and_the_default(folders: tuple[Path, Path]) -> None:
    one, two = folders
    named = make(two / "xx")
    assert find("xx") == find(named) == named
    first = make(one / "xx", language="X")
    assert find("xx") == first
    assert find("../two/xx") == Path("../two/xx")
    own = make(Path("xx"))
    assert find("xx") == own
    english = make(two / "en")
    make(Path("en"))
    assert find() == find(None) == english
    assert find("en") == Path("en")
    found = {model.name: model for model in available()}
    assert found["xx"] == ("xx", first, str(one)) and card_of(first) == {"language": "X"}
    assert found["en"] == ("en", english, str(two)) and card_of(english) == {}
    assert found["en-small"].source == "d2c"


def test_the_default_has_its_packages(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    small = make(folders[0] / "en-small")
    assert default() == "en"  # which comes with d2c
    lacking = make(folders[0] / "en", versions={"python": "3.11", "numpy": "2", "spacy": "3", "stanza": "1"})
    monkeypatch.setattr(
        "d2c.dparsers.graph.directory.find_spec", lambda name: None if name == "stanza" else name
    )
    assert default() == "en-small" and find() == small and find("en") == lacking
    for extra in ("transformers", "fast"):
        run = CliRunner().invoke(cli, ["parse", "--text"], input="They slept.")
        said = f"d2c: en-small parses; better is en: in the clone of d2c, pip install -e '.[{extra}]'\n"
        assert run.stderr.startswith(said)
        (lacking / "dparser" / "encoder").mkdir(parents=True, exist_ok=True)
        (lacking / "dparser" / "network.json").write_text("{}")
        config = {"model_type": "bert", "hidden_act": "gelu"}
        (lacking / "dparser" / "encoder" / "config.json").write_text(json.dumps(config))
        monkeypatch.setattr("d2c.dparsers.graph.directory.find_spec", lambda name: None)


def test_torch_is_missing_only_where_openvino_does_not_compute(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(folders[0] / "xx", versions={"torch": "2"})
    monkeypatch.setattr(
        "d2c.dparsers.graph.directory.find_spec", lambda name: None if name == "torch" else name
    )
    (model / "dparser" / "encoder").mkdir(parents=True)
    config = model / "dparser" / "encoder" / "config.json"
    config.write_text('{"model_type": "bert", "hidden_act": "gelu"}')
    assert missing(model) == ["torch"]
    (model / "dparser" / "network.json").write_text("{}")
    assert missing(model) == []
    config.write_text('{"model_type": "roberta", "hidden_act": "gelu"}')
    assert missing(model) == ["torch"]
    config.write_text("broken")
    assert missing(model) == ["torch"]


def test_a_card_names_no_code(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    (folders[0] / "imported").mkdir(parents=True)
    (folders[0] / "imported" / "__init__.py").write_text("raise AssertionError")
    monkeypatch.syspath_prepend(folders[0])
    make(folders[0] / "en", versions={"imported.module": "1", "imported": "1"})
    assert default() == "en"


def test_what_others_wrote_cannot_steer_a_terminal(folders: tuple[Path, Path]) -> None:
    red = "\x1b[31m"
    model = make(folders[0] / "xx", licence=red, f1={red: red})
    (model / "README.md").write_bytes(f"# {red}\nk\xf6nnen\tja\n".encode("latin-1"))
    (model / "route").mkdir()
    (model / "route" / "cky.json").write_text(json.dumps({red: red, "symbols": [red]}))
    (model / "dparser").mkdir()
    (model / "dparser" / "dparser.json").write_text("{}")
    shown = [CliRunner().invoke(cli, words) for words in (["models"], ["models", "xx"], ["info", "xx"])]
    assert all("\\x1b[31m" in run.stdout and "\x1b" not in run.stdout for run in shown)
    assert shown[1].stdout == "# \\x1b[31m\nk\\xf6nnen       ja\n\n1 labels: \\x1b[31m\n"


def test_what_is_no_model(folders: tuple[Path, Path]) -> None:
    make(folders[0] / "xx")
    Path("folder").mkdir()
    assert find("folder") == Path("folder")  # whoever reads it says what is wrong
    names = ", ".join(model.name for model in available())
    with pytest.raises(ModelError) as raised:
        find("yy")
    assert str(raised.value) == f"yy: is no model: neither a directory nor a name; known names: {names}"
    for given in ("They slept.", "The cat sat on the mat. " * 12):  # more than a name of a file may have
        with pytest.raises(ModelError, match="; a sentence is read from a file or from standard input"):
            find(given)


@pytest.mark.parametrize("given", [["en-smal"], ["xx", "en-smal"], ["xx", "en-smal", "text.txt"]])
def test_a_misspelt_name_is_no_file(given: list[str], folders: tuple[Path, Path]) -> None:
    make(folders[0] / "xx")
    Path("text.txt").write_text("They slept.\n")
    names = ", ".join(model.name for model in available())
    no_model = f"en-smal: is no model: neither a directory nor a name; known names: {names}"
    run = CliRunner().invoke(cli, ["parse", "--text", *given])
    assert str(run.exception) == f"'MODEL': {no_model}; did you mean en-small?"


@pytest.mark.parametrize("file", ["en-small.txt", "en-smal?", "absent"])
def test_what_is_no_misspelt_name_is_a_file(file: str, folders: tuple[Path, Path]) -> None:
    given = make(folders[0] / "xx"), Path(file)
    assert model_and_inputs(click.Context(parse), parse.params[0], given) == (given[:1], given[1:])


def test_the_list_and_a_card(folders: tuple[Path, Path]) -> None:
    make(folders[0] / "xx", licence="CC BY 3.0", f1={"A dev": 81.25, "B dev": 80.0})
    make(folders[0] / "yy")
    (folders[0] / "zz").mkdir()
    (folders[0] / "zz" / "model.json").write_text("{")
    (folders[0] / "xx" / "README.md").write_text("# xx\n")
    lines = CliRunner().invoke(cli, ["models"]).stdout.splitlines()
    rows = {line.split()[0]: " ".join(line.split()) for line in lines}
    folder = folders[0]
    assert rows["name"] == "name MB licence d-parser route from F1 on dev"
    assert rows["xx"] == f"xx 0.0 CC BY 3.0 gold cky {folder} A dev 81.25, B dev 80.0"
    assert rows["yy"] == f"yy 0.0 - gold cky {folder} -"
    assert rows["zz"] == f"zz ? ? ? ? {folder} ?"
    assert CliRunner().invoke(cli, ["models", "xx"]).stdout == "# xx\n"


def test_a_model_without_a_card(folders: tuple[Path, Path]) -> None:
    """It is listed alone, by its name or directory."""
    directory = make(folders[0] / "yy")
    for given in ("yy", str(directory)):
        run = CliRunner().invoke(cli, ["models", given])
        assert " ".join(run.stdout.splitlines()[1].split()) == f"{given} 0.0 - gold cky {directory} -"
        assert run.stderr == (
            f"d2c: {directory} has no README.md that would say more; `d2c info {given}` shows what it holds\n"
        )
    (directory / "card.json").write_text("{'f1': 80}")
    run = CliRunner().invoke(cli, ["models", "yy"])
    assert str(run.exception) == f"{directory}/card.json: is not JSON"
    (directory / "model.json").unlink()
    run = CliRunner().invoke(cli, ["models", str(directory)])
    assert str(run.exception) == f"{directory}: is no model of d2c's: {directory}/model.json is no file"


def test_a_single_argument_of_parse_is_input_where_it_is_a_file(folders: tuple[Path, Path]) -> None:
    make(folders[0] / "en")
    Path("text.txt").write_text("They slept.\n")
    Path("xx").write_text("They slept.\n")
    no_such = "'MODEL': {}: is no model: neither a directory nor a name; known names: "
    for arguments, message in (
        (["text.txt"], f"{folders[0]}/en/dparser/dparser.json: cannot be read"),
        ([], f"{folders[0]}/en/dparser/dparser.json: cannot be read"),
        (["en"], f"{folders[0]}/en/dparser/dparser.json: cannot be read"),
        (["txt.model"], no_such.format("txt.model")),
        (["text.txt", "xx"], f"{folders[0]}/en/dparser/dparser.json: cannot be read"),
        (["a", "b", "c"], no_such.format("a")),
    ):
        run = CliRunner().invoke(cli, ["parse", "--text", *arguments], input="")
        assert isinstance(run.exception, ModelError), run.output
        assert str(run.exception).startswith(message)
    make(folders[0] / "xx")  # now it is a model's name, too
    run = CliRunner().invoke(cli, ["parse", "--text", "xx"])
    assert str(run.exception).startswith(f"{folders[0]}/xx/")


def test_a_folder_that_cannot_be_read(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named and passed over, whoever looks for a model."""
    named = make(folders[1] / "xx")
    folders[0].mkdir()
    listed = Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:
        if folder == folders[0]:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    line = f"{folders[0]} in $D2C_MODELS cannot be read: Permission denied"
    assert find("xx") == named and passed_over() == [line]
    run = CliRunner().invoke(cli, ["models"])
    assert run.exit_code == 0 and run.stderr == f"d2c: {line}\n" and "en-clear" in run.stdout
    with pytest.raises(ModelError, match=f"; {re.escape(line)}$"):
        find("yy")
    Path("x.conllu").write_text("")
    assert CliRunner().invoke(cli, ["parse", str(named), "x.conllu"]).stderr.startswith(f"d2c: {line}\n")


@pytest.mark.parametrize("junk", ["{", "[]", '{"format": 1}'])
def test_a_broken_model_that_hides_one_that_comes_with_d2c(junk: str, folders: tuple[Path, Path]) -> None:
    for name, hint in (("en", "; it hides the model en that comes with d2c: move or rename it"), ("xx", "")):
        (make(folders[0] / name) / "model.json").write_text(junk)
        with pytest.raises(ModelError) as caught:
            read_model_settings(find(name))
        assert str(caught.value).startswith(f"{folders[0]}/{name}/model.json: ")
        assert str(caught.value).endswith(hint) and ("it hides" in str(caught.value)) == bool(hint)


def install(site: Path, distribution: str, **packages: str) -> None:
    """What pip leaves of a distribution with models: the names of their packages, by their own names."""
    information = site / f"{distribution.replace('-', '_')}-1.5.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
    lines = [f"{name} = {package}\n" for name, package in packages.items()]
    (information / "entry_points.txt").write_text("".join(["[d2c.models]\n", *lines]))


def test_installed_models(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found without code of theirs, and hide none of other sources."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)
    garden = make(site / "a_garden", licence="CC0-1.0")
    park = make(site / "parks" / "inner" / "park")
    (site / "parks" / "__init__.py").write_text("raise SystemExit('imported')")
    other = make(site / "other")
    own = make(folders[0] / "own")
    install(site, "a-models", garden="a_garden", park="parks.inner.park", absent="absent", odd="", dots="..")
    install(site, "b-models", garden="other", en="other", own="other", rare="other", none="parks")
    found = {model.name: model for model in available()}
    assert found["garden"] == ("garden", garden, "a-models 1.5") and found["park"].directory == park
    assert card_of(found["garden"].directory) == {"licence": "CC0-1.0"}
    assert (found["own"].directory, found["en"].source, found["rare"].directory) == (own, "d2c", other)
    assert find("garden") == find(garden) == garden and find("park") == park
    lines = [
        "absent of a-models 1.5 is passed over: no model.json in its package absent",
        "dots of a-models 1.5 is passed over: no model.json in its package ..",
        "en of b-models 1.5 is passed over: d2c has one of that name",
        "garden of b-models 1.5 is passed over: a-models 1.5 has one of that name",
        "none of b-models 1.5 is passed over: no model.json in its package parks",
        "odd of a-models 1.5 is passed over: no model.json in its package ",
        f"own of b-models 1.5 is passed over: {folders[0]} has one of that name",
    ]
    assert passed_over() == [f"the model {line}" for line in lines]
    run = CliRunner().invoke(cli, ["models"])
    assert "garden" in run.stdout and "a-models 1.5" in run.stdout
    assert run.stderr == "".join(f"d2c: the model {line}\n" for line in lines)


def test_scores_of_a_card(tmp_path: Path) -> None:
    assert scores_of(make(tmp_path / "a", f1={"x": 80, "y": "90", "z": -1, "u": 85.5})) == {
        "x": 80.0,
        "u": 85.5,
    }
    assert scores_of(make(tmp_path / "b", f1=[1])) == scores_of(make(tmp_path / "c")) == {}
