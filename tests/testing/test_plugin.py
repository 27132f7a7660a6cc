"""The plugin of pytest and the assertions, in projects of their own, some in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.api.reading import Kind
from paramverify.api.results import BudgetReport, VerifyReport
from paramverify.testing.expectations import Expectation, Failed, has_expectations

pytest_plugins = ["pytester"]

CASE = (ROOT / "cases" / "geometric-contagious-ln2.toml").read_text()
LEAK = CASE.partition("[expect]")[0]
FORMULAS = (ROOT / "cases" / "logic" / "survey-coin.toml").read_text()


def told(result: pytest.RunResult) -> str:
    return result.stdout.str() + result.stderr.str()


def case(expect: str, text: str = LEAK) -> str:
    return f"{text}\n[expect]\n{expect}\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a case that keeps what it expects, and TOML files that are no cases."""
    folder = pytester.mkdir("cases")
    (folder / "leak.toml").write_text(case('verdict = "not private"\nratio = "4"\nattained = true'))
    (folder / "tool.toml").write_text('[expect]\nstatus = "holds"\n')
    (folder / "plain.toml").write_text(LEAK)
    (pytester.path / "broken.toml").write_text("[[[")
    (pytester.path / "pyproject.toml").write_text(case('status = "holds"'))
    return pytester


@pytest.mark.slow
def test_nothing_is_collected_unasked(project: pytest.Pytester) -> None:
    """A project that does not ask has no tests from TOML files, and the prover is not imported."""
    project.makeconftest(
        "import sys\n"
        "def pytest_sessionfinish():\n"
        "    print('imported', sorted({'flint', 'sympy', 'paramverify.api'} & set(sys.modules)))\n"
    )
    result = project.runpytest_subprocess("-s")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "imported []" in told(result)


@pytest.mark.slow
def test_the_option_collects_cases_with_expectations(project: pytest.Pytester) -> None:
    """Each expectation is one test; other TOML files and pyproject.toml are none."""
    result = project.runpytest_subprocess("--paramverify", "-v")
    result.assert_outcomes(passed=3)
    for name in ("verdict", "ratio", "attained"):
        assert f"cases/leak.toml::{name} PASSED" in told(result)
    assert "pyproject.toml::" not in told(result)
    assert "tool.toml" not in told(result)


@pytest.mark.slow
def test_the_configuration_names_files(project: pytest.Pytester) -> None:
    """Patterns collect the files that they name; one that expects nothing is an error."""
    project.makeini("[pytest]\nparamverify_cases =\n    cases/leak.toml\n")
    project.runpytest_inprocess().assert_outcomes(passed=3)
    project.makeini("[pytest]\nparamverify_cases = **/*.toml\n")
    result = project.runpytest_inprocess()
    result.assert_outcomes(errors=2)
    assert "plain.toml: the case has no expectation" in told(result)
    assert "broken.toml:1: not TOML" in told(result)
    assert "pyproject" not in told(result)


WRONG = {
    'status = "holds"': ["expected status: private", "found: not private", "output 0 is 4 times"],
    'verdict = "private"': ["expected verdict: private", "found: not private"],
    'status = "maybe"': ["expect.status: 'maybe' is not one of"],
    'ratio = "5"': ["expected ratio: 5", "found: 4", "tight budget: ratio 4"],
    "attained = false": ["expected attained: False", "found: True"],
    "speed = 3": ["speed"],
}


@pytest.mark.slow
def test_failures_say_what_was_found(pytester: pytest.Pytester) -> None:
    """A wrong expectation fails with both words and the report, and without a traceback."""
    for number, expect in enumerate(WRONG):
        (pytester.path / f"case{number}.toml").write_text(case(expect))
    result = pytester.runpytest_inprocess("--paramverify", "-v")
    result.assert_outcomes(failed=len(WRONG))
    blocks = told(result).partition("= FAILURES =")[2].split(".toml: expects ")[1:]
    for block, words in zip(blocks, WRONG.values(), strict=True):
        for word in words:
            assert word in block
    assert "Traceback" not in told(result)
    assert "expectations.py" not in told(result)


@pytest.mark.slow
def test_a_mistake_in_a_case_is_a_failure(pytester: pytest.Pytester) -> None:
    """A case that cannot be read fails with the reader's error, and so does one that is no TOML."""
    (pytester.path / "case.toml").write_text(case('status = "holds"', LEAK.replace("kind =", "kidn =")))
    (pytester.path / "worse.toml").write_text(case('status = holds"'))
    result = pytester.runpytest_inprocess("--paramverify", "--continue-on-collection-errors")
    result.assert_outcomes(failed=1, errors=1)
    assert "mechanism.kidn: unknown key; did you mean 'kind'?" in told(result)
    assert 'not TOML: Invalid value; put texts and formulas in quotes; write "holds"' in told(result)


@pytest.mark.slow
def test_undecided_is_a_failure_with_its_reason(pytester: pytest.Pytester) -> None:
    """Within a time that is too short nothing passes, whatever is expected."""
    text = (ROOT / "cases" / "survey-memory-all.toml").read_text().partition("[expect]")[0]
    for number, word in enumerate(("holds", "violated")):
        (pytester.path / f"case{number}.toml").write_text(case(f'status = "{word}"', text))
    pytester.makeini("[pytest]\nparamverify_timeout = 0.001\n")
    result = pytester.runpytest_inprocess("--paramverify")
    result.assert_outcomes(failed=2)
    assert "found: undecided" in told(result)
    assert "time" in told(result)
    pytester.makeini("[pytest]\nparamverify_timeout = soon\n")
    assert "this must be a number of seconds, not 'soon'" in told(
        pytester.runpytest_inprocess("--paramverify")
    )


@pytest.mark.slow
def test_formulas_are_tests_of_their_own(pytester: pytest.Pytester) -> None:
    """Each formula has its status; a number of a formula is left out, and says so."""
    (pytester.path / "case.toml").write_text(FORMULAS)
    (pytester.path / "wrong.toml").write_text(
        FORMULAS.partition("[expect]")[0] + '[expect.fixed]\nstatus = "holds"\nratio = "3"\n'
    )
    result = pytester.runpytest_inprocess("--paramverify", "-v", "-rs")
    result.assert_outcomes(passed=3, failed=1, skipped=1)
    assert "wrong.toml::fixed.status FAILED" in told(result)
    assert "expected fixed.status: true" in told(result)
    assert "`paramverify logic` finds this number" in told(result)


WEAKER = """
[parameters]
a = "(0, 1)"
[mechanism]
kind = "program"
source = "return q * q // 4 + geometric(a)"
[mechanism.inputs]
q = { values = "0..2" }
[neighbours]
differ = "one"
[privacy]
ratio = "1/a"
"""
ONE_SIDED = """
[mechanism]
kind = "hmm"
states = ["in", "out"]
observations = ["o", "u", "v"]
[mechanism.emissions]
in = { o = "1/2", u = "1/2" }
out = { o = "1/2", v = "1/2" }
[neighbours]
pairs = [["in", "out"]]
[privacy]
ratio = 1
one_sided = "ignored"
"""
BUT = ("private, but not for q in {0..5}", "private, but output sequences that are impossible under one")


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
def test_a_weaker_verdict_is_not_silent(pytester: pytest.Pytester) -> None:
    """What is private for less than its word is a warning of both ways to test, which may be an error."""
    for number, text in enumerate((WEAKER, ONE_SIDED)):
        (pytester.path / f"case{number}.toml").write_text(case('verdict = "private"\nratio = "1"', text))
    pytester.makepyfile(
        """
        from paramverify.testing import assert_private

        def test_larger():
            assert_private("case0.toml")

        def test_one_sided():
            assert_private("case1.toml")
        """
    )
    for action, ends in (("default", {"passed": 4}), ("error", {"failed": 4})):
        given = ("-W", f"{action}::paramverify.testing.WeakerVerdictWarning", "-k", "verdict or test_")
        result = pytester.runpytest_inprocess("--paramverify", *given)
        result.assert_outcomes(**ends, deselected=2)
        assert all(told(result).count(words) >= 2 for words in BUT)


@pytest.mark.slow
def test_xdist_shares_the_files(project: pytest.Pytester) -> None:
    """Two workers run the same tests."""
    result = project.runpytest_subprocess("--paramverify", "-n", "2")
    result.assert_outcomes(passed=3)


@pytest.mark.slow
def test_assertions(pytester: pytest.Pytester) -> None:
    """`assert_private` passes what is private, and fails with the report; undecided fails both."""
    (pytester.path / "leak.toml").write_text(LEAK)
    pytester.makepyfile(
        """
        import paramverify
        from paramverify import flip
        from paramverify.testing import assert_not_private, assert_private

        @paramverify.mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=3)
        def coin(n):
            return n if flip(3 / 4) else 1 - n

        def test_passes():
            leak = paramverify.load("leak.toml")
            assert assert_private(coin).verdict == "private"
            assert assert_private(leak.with_(budget="ln(4)"), timeout=30)
            assert assert_not_private("leak.toml").witness.ratio == 4

        def test_leaks():
            assert_private("leak.toml")

        def test_is_private_after_all():
            assert_not_private(coin)

        def test_undecided():
            assert_private(coin, strategy="built-in", confirm=2)

        def test_undecided_too():
            assert_not_private(coin, strategy="built-in", confirm=2)
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=4)
    for words in ("AssertionError: not private: epsilon = ln(2)", "output 0 is 4 times as likely"):
        assert words in told(result)
    assert told(result).count("AssertionError: undecided: ") >= 2
    assert "AssertionError: private: ratio = 3" in told(result)


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (LEAK + '["expect"]\nstatus = "holds"\n', True),
        (LEAK + '[[expect]]\nstatus = "holds"\n', True),
        (LEAK + '[ expect . "survey" ]\nstatus = "holds"\n', True),
        ('expect = { status = "holds" }\n' + LEAK, True),
        ('expect.status = "holds"\n' + LEAK, True),
        (LEAK.replace("[mechanism]", "[mechansim]") + '[expect]\nstatus = "holds"\n', True),
        (LEAK.replace("[mechanism]", "[[mechanism") + 'expect = { status = "holds" }\n', True),
        ("title = 'caf\xe9'\n" + LEAK + '[expect]\nstatus = "holds"\n', True),
        (LEAK, False),
        ('[expect]\nstatus = "holds"\n', False),
        ('[tool]\ntext = """\n[expected]\n"""\n', False),
        ("[[[", False),
    ],
)
def test_no_case_that_expects_is_left_out(content: str, is_one: bool, tmp_path: Path) -> None:
    """Each way to write `expect` counts, and so does a case with a mistake, or in another encoding."""
    path = tmp_path / "a.toml"
    path.write_bytes(content.encode("latin-1"))
    assert has_expectations(path) == is_one


def test_what_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    assert has_expectations(tmp_path / "away.toml")


@pytest.mark.parametrize(("end", "passes"), [("timeout", False), ("memory", False), ("gave up", True)])
def test_undecided_by_a_limit_is_not_what_was_expected(end: str, passes: bool) -> None:
    """A case that expects to stay open does not pass because the time was over."""
    report = VerifyReport(
        kind=Kind.PRIVACY,
        lines=(),
        document={"verdict": "undecided", "end": end},
        seconds=0.0,
        reason=f"{end}: so",
    )
    expected = Expectation("verdict", "undecided")
    if passes:
        expected.check(Path("a.toml"), 1.0, {"verify": report})
    else:
        with pytest.raises(Failed, match="a limit ended the run"):
            expected.check(Path("a.toml"), 1.0, {"verify": report})


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "many", True])
def test_a_ratio_that_is_no_number_is_told(value: object) -> None:
    report = BudgetReport(kind=Kind.PRIVACY, lines=(), document={}, seconds=0.0)
    with pytest.raises(Failed, match=r"ratio = .*: write a number"):
        Expectation("ratio", value).check(Path("a.toml"), 1.0, {"budget": report})
