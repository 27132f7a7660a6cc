"""What a mechanism in Python is applied to: the inputs behind the secrets of a case.

The case file says which inputs a secret stands for: one, where neighbouring inputs are compared; a mixture,
where a prior is conditioned on the secret. An input is a tuple of answers here, also if it is one value; see
`blackbox` for what a mechanism gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.expressions import Value
from paramverify.algebra.reals import Real
from paramverify.errors import InputError, UnsupportedError
from paramverify.evidence.pairs import directed, pair_of
from paramverify.models.context import Checks
from paramverify.models.evaluation import Numbers
from paramverify.models.kinds import need_privacy
from paramverify.models.mechanisms import Input, Mechanism, compare, show_input
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.mechanisms.hmm import Explicit
from paramverify.models.model import Model
from paramverify.models.names import as_value
from paramverify.models.priors import InitialDistribution
from paramverify.privacy.cases import PrivacyCase
from paramverify.statistics.experiments import Experiment


@dataclass(frozen=True, eq=False)
class CaseInputs:
    """The mechanism of a case, and the weights of its inputs under each secret that has a prior."""

    case: PrivacyCase
    mechanism: Mechanism
    priors: Mapping[str, tuple[tuple[Input, ...], InitialDistribution]]

    @property
    def model(self) -> Model:
        """The model of the case."""
        return need_privacy(self.case.model, "sampling", sets=True, together=True)

    @staticmethod
    def of(case: PrivacyCase) -> CaseInputs:
        """Returns the inputs of a case.

        Raises:
            InputError: the case is not about privacy.
        """
        model = need_privacy(case.model, "sampling", sets=True, together=True)
        assert case.mechanism is not None  # a case about privacy has one
        if case.times > 1:
            reason = "sampling is of single outputs, and this mechanism answers several times"
            raise UnsupportedError(reason, key="mechanism.times")
        if isinstance(case.mechanism, StreamMechanism):
            reason = "a program over a stream is not sampled: write its loop over an input with a length"
            raise UnsupportedError(reason, key="mechanism")
        priors: dict[str, tuple[tuple[Input, ...], InitialDistribution]] = {}
        if not isinstance(case.mechanism, Explicit):
            checks = Checks(model.domain)
            for name, weights in case.inputs.items():
                mixed = InitialDistribution.of(dict(enumerate(weights.values())), checks)
                priors[name] = tuple(weights), mixed
        return CaseInputs(case, case.mechanism, priors)

    def inputs(self, experiment: Experiment, side: int) -> dict[Input, Real]:
        """Returns the inputs of one side of an experiment, with their probabilities at its point.

        For `above_threshold` an input is the threshold and then the answers; for `hmm`, the initial state.
        """
        secret = experiment.secret(side)
        numbers = Numbers(self.model, experiment.point)
        one = numbers.value(self.model.domain.ring.number(1))
        if experiment.choices:
            threshold = Fraction(int(secret.rpartition(" ")[2]))  # the model names its own secrets
            return {
                (threshold, *(Fraction(int(c[side])) for c in experiment.choices)): numbers.real(one, one)
            }
        if secret in self.priors:
            listed, start = self.priors[secret]
        elif isinstance(self.mechanism, Explicit):
            start = directed(self.model, experiment.left, experiment.right)[side]
            listed = tuple((_given(state),) for state in self.mechanism.answers[0])
        else:
            inputs = pair_of(self.model, experiment.left, experiment.right).inputs
            if inputs is None:
                raise UnsupportedError("the mechanism does not say which inputs it compares", key="mechanism")
            return {tuple(map(_given, inputs[side])): numbers.real(one, one)}
        mass = numbers.value(start.mass)
        found = {listed[k]: numbers.real(numbers.value(w), mass) for k, w in start.weights.items()}
        possible = {given: p for given, p in found.items() if p.sign() > 0}
        if not possible:
            raise InputError(f"the secret {secret!r} has probability zero at this point")
        return possible

    def by_input(self) -> CaseInputs:
        """Returns the same mechanism with single inputs in the place of secrets, to look at each by
        itself."""
        model = self.model
        if model.hmm.chosen:
            return self
        explicit = isinstance(self.mechanism, Explicit)
        if self.priors:
            inputs = list(dict.fromkeys(given for listed, _ in self.priors.values() for given in listed))
        elif explicit:
            states = dict.fromkeys(s for p in model.pairs for start in (p.pi, p.tau) for s in start.weights)
            inputs = [(self.mechanism.answers[0][s],) for s in states]
        else:
            return self
        hmm, pairs = compare(self.mechanism, list(zip(inputs, inputs[1:] or inputs, strict=False)))
        single = replace(model, hmm=hmm, pairs=tuple(pairs))
        one = InitialDistribution.point(0, model.domain.ring.number(1))
        alone = {} if explicit else {show_input(given): ((given,), one) for given in inputs}
        return CaseInputs(replace(self.case, model=single), self.mechanism, alone)


def _given(value: Value) -> Value:
    """Returns a value as a mechanism in Python gets it: a name that is exactly how a number is shown as this
    number, so different names stay different."""
    number = as_value(value) if isinstance(value, str) else value
    return number if str(number) == str(value) else value
