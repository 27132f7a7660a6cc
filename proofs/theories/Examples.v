(** Small proofs that the checker accepts, and next to each one that it must not. *)

From Coq Require Import ZArith List Bool QArith.
From Paramverify Require Import Poly Goal Certificate Check.
Import ListNotations.
Local Open Scope Q_scope.

(** ** Goals in x and y on the unit box *)

Definition whole (p : poly) : qpoly := QP p 1.
Definition number (c : Z) : poly := Pc c.
Definition x := var 0.
Definition y := var 1.
Infix "[+]" := padd (at level 50, left associativity).
Infix "[-]" := psub (at level 50, left associativity).
Infix "[*]" := pmul (at level 40, left associativity).

Definition closed := Some (Iv 0 1 false false).
Definition opened := Some (Iv 0 1 true true).
Definition point := Some (Iv (1 # 2) (1 # 2) false false).
Definition goal_on (b : box) (cs : list cond) (p : poly) : goal := Goal (whole p) b cs [].
Definition on_box (p : poly) : goal := goal_on [closed; closed] [] p.

Definition accepts (g : goal) (c : cert) : bool := check max_depth [] g c.
Notation "'yes' t" := (t = true) (at level 70).
Notation "'no' t" := (t = false) (at level 70).

Definition leaves := CBernstein TLeaf.

(** ** One polynomial *)

Example constant_yes : yes (accepts (on_box (number 0)) CConstant). Proof. vm_compute; reflexivity. Qed.
Example constant_no : no (accepts (on_box (number (-1))) CConstant). Proof. vm_compute; reflexivity. Qed.

(** 2x - 1 = 0 where x is 1/2. *)
Example fixed_yes : yes (accepts (goal_on [point] [] (pscale 2 x [-] number 1)) (CFixed 0 CConstant)).
Proof. vm_compute; reflexivity. Qed.
Example fixed_no : no (accepts (goal_on [closed] [] (pscale 2 x [-] number 1)) (CFixed 0 CConstant)).
Proof. vm_compute; reflexivity. Qed.

(** (x - y)²·x, and (x - y)³·x. *)
Definition difference := x [-] y.
Example factors_yes : yes (accepts (on_box (difference [*] difference [*] x))
  (CFactors 1 [(whole difference, 2%positive, None); (whole x, 1%positive, Some (true, leaves))])).
Proof. vm_compute; reflexivity. Qed.
Example factors_no : no (accepts (on_box (difference [*] difference [*] difference [*] x))
  (CFactors 1 [(whole difference, 3%positive, None); (whole x, 1%positive, Some (true, leaves))])).
Proof. vm_compute; reflexivity. Qed.
(** (x - 2)·(y - 2): both factors are negative. *)
Definition product_of_two := (x [-] number 2) [*] (y [-] number 2).
Definition two_factors (a b : bool) :=
  CFactors 1 [(whole (x [-] number 2), 1%positive, Some (a, leaves)); (whole (y [-] number 2), 1%positive, Some (b, leaves))].
Example signs_yes : yes (accepts (on_box product_of_two) (two_factors false false)). Proof. vm_compute; reflexivity. Qed.
Example signs_no : no (accepts (on_box product_of_two) (two_factors true false)). Proof. vm_compute; reflexivity. Qed.

Example sum_yes : yes (accepts (on_box (x [+] y)) (CSum [(whole x, leaves); (whole y, leaves)])).
Proof. vm_compute; reflexivity. Qed.
Example sum_no : no (accepts (on_box (x [-] y)) (CSum [(whole x, leaves); (whole y, leaves)])).
Proof. vm_compute; reflexivity. Qed.

(** ** One variable at its ends *)

(** x·(1 - x) is concave in x, x·x - x is convex. *)
Definition hill := x [*] (number 1 [-] x).
Example ends_yes : yes (accepts (on_box hill) (CEnds 0 CConstant CConstant (Some CConstant))).
Proof. vm_compute; reflexivity. Qed.
Example ends_no : no (accepts (on_box (popp hill)) (CEnds 0 CConstant CConstant (Some CConstant))).
Proof. vm_compute; reflexivity. Qed.
Example ends_linear : yes (accepts (on_box (number 1 [-] x [*] y)) (CEnds 0 CConstant leaves None)).
Proof. vm_compute; reflexivity. Qed.

Example monotone_yes : yes (accepts (on_box (x [*] x [+] x)) (CMonotone 0 false leaves CConstant)).
Proof. vm_compute; reflexivity. Qed.
Example monotone_no : no (accepts (on_box (x [*] x [-] x)) (CMonotone 0 false leaves CConstant)).
Proof. vm_compute; reflexivity. Qed.

(** x² - x·y + y², and x² - 3·x·y + y². *)
Definition form_with (c : Z) := x [*] x [-] pscale c (x [*] y) [+] y [*] y.
Example quadratic_yes : yes (accepts (on_box (form_with 1)) (CQuadratic 0 CConstant leaves leaves)).
Proof. vm_compute; reflexivity. Qed.
Example quadratic_no : no (accepts (on_box (form_with 3)) (CQuadratic 0 CConstant leaves leaves)).
Proof. vm_compute; reflexivity. Qed.

(** ** Cuts *)

(** 4x² - 4x + 2 needs a cut of [0, 1]; 4x² - 4x + 1 has a zero at the cut; 4x² - 4x is negative. *)
Definition parabola (c : Z) := pscale 4 (x [*] x) [-] pscale 4 x [+] number c.
Definition half := CBernstein (TCut 0 (1 # 2) TLeaf TLeaf).
Example leaf_no : no (accepts (on_box (parabola 1)) leaves). Proof. vm_compute; reflexivity. Qed.
Example cut_yes : yes (accepts (on_box (parabola 1)) half). Proof. vm_compute; reflexivity. Qed.
Example cut_no : no (accepts (on_box (parabola 0)) half). Proof. vm_compute; reflexivity. Qed.
Example cut_outside_no : no (accepts (on_box (parabola 2)) (CBernstein (TCut 0 2 TLeaf TLeaf))).
Proof. vm_compute; reflexivity. Qed.
(** (3x - 1)² is zero at 1/3: only a cut there helps. *)
Definition third := pscale 9 (x [*] x) [-] pscale 6 x [+] number 1.
Example third_yes : yes (accepts (on_box third) (CBernstein (TCut 0 (1 # 3) TLeaf TLeaf))).
Proof. vm_compute; reflexivity. Qed.
Example third_no : no (accepts (on_box third) half). Proof. vm_compute; reflexivity. Qed.
(** Another proof for a part; and the face at an end. *)
Example nested_yes : yes (accepts (on_box (parabola 1))
  (CBernstein (TCut 0 (1 # 2) (TProof leaves) (TLow 0 TLeaf)))).
Proof. vm_compute; reflexivity. Qed.
Example face_no : no (accepts (on_box (parabola 1)) (CBernstein (TLow 0 TLeaf))). Proof. vm_compute; reflexivity. Qed.

(** ** Constraints *)

(** x >= 1 is nowhere fulfilled in (0, 1), but it is in [0, 1]; x > 1 is in neither. *)
Definition beyond (strict : bool) : cond := Some (whole (x [-] number 1), strict).
Definition outside := CBernstein (TOutside 0).
Example outside_open : yes (accepts (goal_on [opened] [beyond false] (number (-1))) outside).
Proof. vm_compute; reflexivity. Qed.
Example outside_closed : no (accepts (goal_on [closed] [beyond false] (number (-1))) outside).
Proof. vm_compute; reflexivity. Qed.
Example outside_strict : yes (accepts (goal_on [closed] [beyond true] (number (-1))) outside).
Proof. vm_compute; reflexivity. Qed.

(** 2·x - 1 where x >= 1/2. *)
Definition above_half : cond := Some (QP (pscale 2 x [-] number 1) 2, false).
Example constraint_yes : yes (accepts (goal_on [closed] [above_half] (pscale 2 x [-] number 1)) (CConstraint 0 2 CConstant)).
Proof. vm_compute; reflexivity. Qed.
Example constraint_no : no (accepts (goal_on [closed] [above_half] (number 1 [-] pscale 2 x)) (CConstraint 0 (-2) CConstant)).
Proof. vm_compute; reflexivity. Qed.

(** (x - y)·(x + 1) >= 0 says that x - y >= 0. With x in the place of x + 1 it would say nothing at 0. *)
Definition divided (k : poly) (b : option interval) :=
  accepts (goal_on [b; closed] [Some (whole (difference [*] k), false)] difference)
    (CDivide 0 (whole difference) (whole k) true (CConstraint 1 1 CConstant)).
Example divide_yes : yes (divided (x [+] number 1) closed). Proof. vm_compute; reflexivity. Qed.
Example divide_open : yes (divided x opened). Proof. vm_compute; reflexivity. Qed.
Example divide_no : no (divided x closed). Proof. vm_compute; reflexivity. Qed.

Definition opposites (strict : bool) :=
  goal_on [closed; closed] [Some (whole difference, strict); Some (QP (popp difference) 3, false)] (number (-1)).
Example contradiction_yes : yes (accepts (opposites true) (CContradiction 0 1)). Proof. vm_compute; reflexivity. Qed.
Example contradiction_no : no (accepts (opposites false) (CContradiction 0 1)). Proof. vm_compute; reflexivity. Qed.

(** ** Squares *)

Definition plane : box := [None; None].
Example squares_yes : yes (accepts (goal_on plane [] (form_with 2)) (CSquares [([], [(1, whole difference)])] None)).
Proof. vm_compute; reflexivity. Qed.
Example squares_no : no (accepts (goal_on plane [] (form_with 2)) (CSquares [([], [(-(1), whole difference)])] None)).
Proof. vm_compute; reflexivity. Qed.
(** x²·f = (x·(x - y))², where x² is positive nearly everywhere. *)
Definition by_square (b : box) :=
  accepts (goal_on b [] (form_with 2)) (CSquares [([], [(1, whole (x [*] difference))])] (Some [([], [(1, whole x)])])).
Example multiplier_yes : yes (by_square plane). Proof. vm_compute; reflexivity. Qed.
(** 0·f = 0 says nothing. *)
Example zero_multiplier_no : no (accepts (goal_on plane [] (number (-1))) (CSquares [] (Some []))).
Proof. vm_compute; reflexivity. Qed.
(** x·f = x·(x - y)² with x >= 0; where x is 0 alone, f may be anything. *)
Definition by_side (b : option interval) (f : poly) :=
  accepts (goal_on [b; closed] [] f) (CSquares [([SLow 0 0], [(1, whole difference)])] (Some [([SLow 0 0], [(1, whole (number 1))])])).
Example side_yes : yes (by_side closed (form_with 2)). Proof. vm_compute; reflexivity. Qed.
Example side_no : no (by_side (Some (Iv 0 0 false false)) (popp (form_with 2))). Proof. vm_compute; reflexivity. Qed.

(** -(x - y)² >= 0 says that x = y, so x - y >= 0; (x - y)² >= 0 says nothing. *)
Definition equal_by (c : cond) := goal_on plane [c] difference.
Example vanish_yes : yes (accepts (equal_by (Some (whole (popp (form_with 2)), false)))
  (CVanish 0 [(1, whole difference)] (CConstraint 1 1 CConstant))).
Proof. vm_compute; reflexivity. Qed.
Example vanish_no : no (accepts (equal_by (Some (whole (form_with 2), false)))
  (CVanish 0 [(1, whole difference)] (CConstraint 1 1 CConstant))).
Proof. vm_compute; reflexivity. Qed.

(** ** Lemmas *)

Definition use_lemma (known goal : goal) := check max_depth [known] goal (CLemma 0).
Example lemma_yes : yes (use_lemma (on_box (pscale 3 x)) (goal_on [opened; closed] [] (pscale 2 x))).
Proof. vm_compute; reflexivity. Qed.
Example lemma_larger_no : no (use_lemma (goal_on [opened; closed] [] (pscale 3 x)) (on_box (pscale 2 x))).
Proof. vm_compute; reflexivity. Qed.
Example lemma_sign_no : no (use_lemma (on_box (pscale 3 x)) (on_box (pscale (-2) x))). Proof. vm_compute; reflexivity. Qed.
Example lemma_condition_no : no (use_lemma (goal_on [closed] [above_half] x) (goal_on [closed] [] x)).
Proof. vm_compute; reflexivity. Qed.

(** ** Convexity *)

Example convex_yes : yes (accepts (on_box (parabola 1)) (CConvex [1 # 2; 0])). Proof. vm_compute; reflexivity. Qed.
Example convex_low_no : no (accepts (on_box (parabola 0)) (CConvex [1 # 2; 0])). Proof. vm_compute; reflexivity. Qed.
Example convex_hill_no : no (accepts (on_box hill) (CConvex [1 # 2; 0])). Proof. vm_compute; reflexivity. Qed.

(** (2x² - 1)² is convex on [1/2, 1], and zero at the root of 2t² - 1. *)
Definition root := pscale 2 (x [*] x) [-] number 1.
Definition at_root (f minimal : poly) :=
  accepts (goal_on [Some (Iv (1 # 2) 1 false false)] [] f) (CConvexRoot (whole minimal) (1 # 2) 1 [whole x]).
Example root_yes : yes (at_root (root [*] root) root). Proof. vm_compute; reflexivity. Qed.
Example root_other_no : no (at_root (root [*] root) (pscale 3 (x [*] x) [-] number 1)). Proof. vm_compute; reflexivity. Qed.
Example root_low_no : no (at_root (root [*] root [-] number 1) root). Proof. vm_compute; reflexivity. Qed.

(** ** Another variable in the place of one *)

(** y² - x² where x <= y. *)
Definition ordered (f : poly) := accepts (goal_on [closed; closed] [Some (whole (y [-] x), false)] f) (CStretch 0 0 leaves).
Example stretch_yes : yes (ordered (y [*] y [-] x [*] x)). Proof. vm_compute; reflexivity. Qed.
Example stretch_no : no (ordered (x [*] x [-] y [*] y)). Proof. vm_compute; reflexivity. Qed.

Definition same (f : poly) (second : poly) :=
  accepts (goal_on [closed; closed] [Some (whole difference, false); Some (whole second, false)] f) (CEliminate 0 0 1 CConstant).
Example eliminate_yes : yes (same difference (popp difference)). Proof. vm_compute; reflexivity. Qed.
Example eliminate_no : no (same (difference [-] number 1) (popp difference)). Proof. vm_compute; reflexivity. Qed.
Example eliminate_other_no : no (same difference difference). Proof. vm_compute; reflexivity. Qed.

(** (2xy - 1)² depends on xy alone. *)
Definition in_product (t : cert) (f : poly) :=
  accepts (on_box f) (CProduct 0 [(0%nat, 1%positive, false); (1%nat, 1%positive, false)] t).
Definition in_xy := pscale 4 (x [*] y [*] x [*] y) [-] pscale 4 (x [*] y) [+] number 1.
Example product_yes : yes (in_product half in_xy). Proof. vm_compute; reflexivity. Qed.
Example product_no : no (in_product leaves in_xy). Proof. vm_compute; reflexivity. Qed.
Example product_other_no : no (in_product half (parabola 1)). Proof. vm_compute; reflexivity. Qed.

Definition cones := CBlowup [(0%nat, false, leaves); (1%nat, false, leaves)].
Example blowup_yes : yes (accepts (on_box (form_with 1)) cones). Proof. vm_compute; reflexivity. Qed.
Example blowup_no : no (accepts (on_box (form_with 3)) cones). Proof. vm_compute; reflexivity. Qed.
Example blowup_half_no : no (accepts (on_box (form_with 1)) (CBlowup [(0%nat, false, leaves)])).
Proof. vm_compute; reflexivity. Qed.

(** ** The number e, and logarithms *)

Definition about_e (f : poly) := Goal (whole f) [closed; None] [] [Exp 1 1].
Example enclose_yes : yes (accepts (about_e (number 3 [-] y)) (CEnclose 2 3 leaves)). Proof. vm_compute; reflexivity. Qed.
Example enclose_no : no (accepts (about_e (y [-] number 3)) (CEnclose 2 3 leaves)). Proof. vm_compute; reflexivity. Qed.
Example exponential_yes : yes (accepts (about_e (number 3 [-] y)) CExponential). Proof. vm_compute; reflexivity. Qed.
Example exponential_no : no (accepts (about_e (number 3 [-] y [-] x)) CExponential). Proof. vm_compute; reflexivity. Qed.

(** y = - ln x on (0, 1]. *)
Definition about_log (f : poly) :=
  accepts (Goal (whole f) [Some (Iv 0 1 true false); None] [] [Log 1 0 1])
    (CLogarithm 1 [1 # 2] [(Near (1 # 2) 0 1, leaves); (Between 1 0 0, leaves)]).
Example logarithm_yes : yes (about_log y). Proof. vm_compute; reflexivity. Qed.
Example logarithm_no : no (about_log (popp y)). Proof. vm_compute; reflexivity. Qed.
