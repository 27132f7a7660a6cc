"""The fourth subject: many releases together, with certified bounds of δ for ε and of ε for δ.

A release is seen through its privacy loss. Let P and Q be the distributions of its output with one input and
with the other; the loss of an output is ln(P/Q). With x = e^(−loss), which is Q/P,

    δ(ε) = E_P max(0, 1 − e^ε·x) + P(outputs that are impossible under Q)        ([KoskelaJH20], [GopiLW21]).

Losses of independent releases add up, so x is a product, and masses are convolved. Nothing here is a float:
masses are whole numbers times 2^−bits, rounded in the direction that each bound needs.

*Upper bound.* For every ε and y ≥ 0, max(0, 1 − e^ε·x·y) is convex in x and falls with x. So δ does not get
smaller if an output is replaced by two, with other losses, that together have the same mass under P and the
same under Q (Jensen; "connect the dots" of [DoroshenkoGKKM22]). Nor if mass under P is added, or if a loss
is made larger. As y is what all other releases contribute, this is true within every composition.

*Lower bound.* Outputs get labels, and what is told is the sum of the labels of all releases: a function of
the outputs. Then δ(ε) ≥ Σ max(0, P_n − e^ε·Q_n) over any of the sums n, also with less for P and more for Q.
"""
