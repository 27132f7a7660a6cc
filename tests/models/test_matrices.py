"""The matrix of a model of Storm's as arrays, against its entries one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify.errors import LimitError
from paramverify.models.chains import prism_files

MODEL = """mdp
const double p;
module walk
  x : [0..9] init 0;
  [go] x<8 -> p/2 : (x'=x+1) + (1-p/2)/3 : (x'=x+2) + 2*(1-p/2)/3 : true;
  [] x<4 -> 1/(1+p) : (x'=2*x) + p/(1+p) : (x'=9);
  [action] x>=8 -> true;
endmodule
label "action" = x=1;
"""


@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
@pytest.mark.parametrize("value", ["", "1/3"])
@pytest.mark.parametrize("piece", [1, 100, 1 << 20])
def test_arrays_are_the_entries(
    value: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, targets and values are those that Storm hands over entry by entry, however the file is cut."""
    import stormpy

    monkeypatch.setattr(prism_files, "PIECE", piece)
    path = tmp_path / "walk.prism"
    path.write_text(MODEL)
    program = stormpy.parse_prism_program(str(path))
    if value:
        program, _ = stormpy.instantiate_constants(program, f"p={value}")
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_state_valuations()
    options.set_build_choice_labels(True)
    kind = stormpy.Rational if value else stormpy.RationalFunction
    model = stormpy.build_model[kind](program, options=options)
    begins, targets, weights, places = prism_files.transitions(model)
    matrix, texts = model.transition_matrix, list(places)
    ends = [0]
    for row in range(matrix.nr_rows):
        ends.append(ends[-1] + len(matrix.get_row(row)))
    assert list(begins) == ends
    assert list(targets) == [entry.column for entry in matrix]
    assert [texts[weight] for weight in weights] == [str(entry.value) for entry in matrix]
    monkeypatch.setattr(prism_files, "_pieces", lambda path: iter([path.read_bytes()[:-9]]))
    with pytest.raises(LimitError, match="could not write the whole model"):
        prism_files.transitions(model)
