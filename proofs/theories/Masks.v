(** Cones that live on some of the states, which are all that is left after some steps. *)

From Coq Require Import Reals ZArith List Lra Lia Bool Arith.
From Paramverify Require Import Hmm Coverings.
Import ListNotations.
Local Open Scope R_scope.

(** * Sets of states, as lists with [true] for each state in it *)

Definition agree (r : list bool) (x y : vector) : Prop := forall i, nth i r false = true -> nth i x 0 = nth i y 0.

Lemma agree_cons b r x xs y ys : agree (b :: r) (x :: xs) (y :: ys) -> (b = true -> x = y) /\ agree r xs ys.
Proof. intros H. split; [apply (H 0%nat) | intros i; apply (H (S i))]. Qed.

Section Entries.
Variables (A : Type) (zero : A -> bool) (val : A -> R).
Hypothesis zero_right : forall a, zero a = true -> val a = 0.

(** Nothing but 0 is at states outside of a set. *)
Fixpoint supported (row : list A) (r : list bool) : bool :=
  match row, r with
  | [], [] => true
  | p :: row, b :: r => (b || zero p) && supported row r
  | _, _ => false
  end.

Lemma supported_length row r : supported row r = true -> length r = length row.
Proof.
  revert r. induction row as [|p row IH]; intros [|b r] H; simpl in *; try discriminate; [reflexivity|].
  apply andb_true_iff in H. rewrite (IH r) by apply H. reflexivity.
Qed.

Lemma supported_right row r x y : supported row r = true -> length x = length row -> length y = length row ->
  agree r x y -> dot (map val row) x = dot (map val row) y.
Proof.
  revert r x y. induction row as [|p row IH]; intros [|b r] [|x xs] [|y ys] H Hx Hy A0; simpl in *; try discriminate;
    try reflexivity.
  apply andb_true_iff in H. destruct H as [Hb H]. apply agree_cons in A0. destruct A0 as [A0 A1].
  rewrite (IH r xs ys H) by (try assumption; lia).
  apply orb_true_iff in Hb. destruct Hb as [Hb|Hb]; [rewrite A0 by exact Hb; reflexivity|].
  rewrite (zero_right p Hb). lra.
Qed.

(** Steps from states in one set lead to states in the other one. *)
Fixpoint leads (rows : list (list A)) (r to : list bool) : bool :=
  match rows, r with
  | [], [] => true
  | row :: rows, b :: r => (negb b || supported row to) && leads rows r to
  | _, _ => false
  end.

Lemma leads_right n rows r to x y : leads rows r to = true -> length to = n -> length x = n -> length y = n ->
  agree to x y -> agree r (apply (map (map val) rows) x) (apply (map (map val) rows) y).
Proof.
  intros H Lt Lx Ly A0. revert r H. induction rows as [|row rows IH]; intros [|b r] H; simpl in *; try discriminate.
  - intros i. destruct i; discriminate.
  - apply andb_true_iff in H. destruct H as [Hb H]. intros [|i] Hi; simpl in *.
    + subst b. simpl in Hb. pose proof (supported_length _ _ Hb) as L.
      apply (supported_right row to); try assumption; congruence.
    + apply (IH r H i Hi).
Qed.

(** One set after the other, by any of the matrices. *)
Fixpoint path (n : nat) (ms : list (list (list A))) (r : list bool) (more : list (list bool)) : bool :=
  match more with
  | [] => true
  | to :: more => Nat.eqb (length to) n && forallb (fun t => leads t r to) ms && path n ms to more
  end.

Fixpoint ending (r : list bool) (more : list (list bool)) : list bool :=
  match more with [] => r | to :: more => ending to more end.

Lemma path_right n symbols (matrices : nat -> list vector) ms more r word x y :
  (forall o, length (matrices o) = n) ->
  (forall o, (o < symbols)%nat -> exists t, In t ms /\ matrices o = map (map val) t) ->
  path n ms r more = true -> length word = length more -> Forall (fun o => (o < symbols)%nat) word ->
  length x = n -> length y = n -> agree (ending r more) x y ->
  agree r (apply_word matrices word x) (apply_word matrices word y).
Proof.
  intros Hn Hm. revert r word. induction more as [|to more IH]; intros r [|o word] H Hl Hw Lx Ly A0; simpl in *;
    try discriminate; [exact A0|].
  rewrite !andb_true_iff in H. destruct H as [[Ht H1] H2]. apply Nat.eqb_eq in Ht. inversion Hw as [|? ? Ho Hw']; subst.
  destruct (Hm o Ho) as [t [Hin Et]]. rewrite forallb_forall in H1. specialize (H1 t Hin).
  fold (apply_word matrices word x). fold (apply_word matrices word y). rewrite Et.
  apply (leads_right (length to) t r to); try assumption; try reflexivity.
  - apply apply_word_length; assumption.
  - apply apply_word_length; assumption.
  - apply IH; try assumption. lia.
Qed.

End Entries.

Arguments supported_length {A zero} row r _.

Fixpoint subset (r to : list bool) : bool :=
  match r, to with
  | [], [] => true
  | a :: r, b :: to => (negb a || b) && subset r to
  | _, _ => false
  end.

Lemma subset_agree r to x y : subset r to = true -> agree to x y -> agree r x y.
Proof.
  intros H A i Hi. apply A. clear A. revert to H i Hi.
  induction r as [|a r IH]; intros [|b to] H [|i] Hi; simpl in *; try discriminate.
  - apply andb_true_iff in H. destruct H as [H _]. subst a. exact H.
  - apply andb_true_iff in H. destruct H as [_ H]. apply (IH to H i Hi).
Qed.

(** Zero outside of a set. *)
Definition masked (r : list bool) (v : vector) : vector :=
  map (fun pair : bool * R => if fst pair then snd pair else 0) (combine r v).

Lemma masked_length r v n : length r = n -> length v = n -> length (masked r v) = n.
Proof. intros Hr Hv. unfold masked. rewrite map_length, combine_length. lia. Qed.

Lemma masked_agree r v : length v = length r -> agree r v (masked r v).
Proof.
  intros H i. revert v H i. induction r as [|b r IH]; intros [|x v] H [|i] Hi; simpl in *; try discriminate.
  - subst b. reflexivity.
  - apply IH; [lia | exact Hi].
Qed.

Lemma masked_outside r v i : nth i r false = false -> nth i (masked r v) 0 = 0.
Proof.
  revert v i. induction r as [|b r IH]; intros [|x v] [|i] H; simpl in *; try reflexivity.
  - subst b. reflexivity.
  - apply IH. exact H.
Qed.

Definition unit (n i : nat) : whole_vector := repeat 0%Z i ++ 1%Z :: repeat 0%Z (n - S i).

Definition outside (n : nat) (r : list bool) : list whole_vector :=
  map (unit n) (filter (fun i => negb (nth i r false)) (seq 0 n)).

(** A vector that is zero outside of a set, for coverings. *)
Lemma outside_zero n r v : (forall i, nth i r false = false -> nth i v 0 = 0) ->
  forall e, In e (outside n r) -> dot (reals e) v = 0.
Proof.
  intros H e He. unfold outside in He. apply in_map_iff in He. destruct He as [i [<- Hi]].
  apply filter_In in Hi. destruct Hi as [_ Hi]. unfold unit. rewrite dot_unit, H; [lra|].
  destruct (nth i r false); [discriminate Hi | reflexivity].
Qed.

(** * Every length *)

Section Cones.
Variables (n symbols : nat) (matrices : nat -> list vector).
Hypothesis square : forall o, length (matrices o) = n.
Variable rays : list vector.
Hypothesis rays_long : Forall (fun r => length r = n) rays.
Variable kept : list bool.
Hypothesis kept_long : length kept = n.
Let spelled (word : list nat) := Forall (fun o => (o < symbols)%nat) word.

(** What is the same for vectors that agree on the states that are kept. *)
Definition tells (f : vector -> R) : Prop :=
  forall x y, length x = n -> length y = n -> agree kept x y -> f x = f y.

Theorem masked_cone (normals : list vector) (depth : nat) (a : vector) :
  (forall v, length v = n -> (forall i, nth i kept false = false -> nth i v 0 = 0) ->
     (forall m, In m normals -> 0 <= dot m v) -> spanned n rays v) ->
  (forall m, In m normals -> tells (dot m)) ->
  (forall o m, (o < symbols)%nat -> In m normals -> tells (fun v => dot m (apply (matrices o) v))) ->
  (forall word, spelled word -> length word = depth -> tells (fun v => dot a (apply_word matrices word v))) ->
  (forall m, In m normals -> 0 <= dot m (ones n)) ->
  (forall o, (o < symbols)%nat -> forall r, In r rays -> forall m, In m normals -> 0 <= dot m (apply (matrices o) r)) ->
  (forall word, spelled word -> (0 < length word < depth)%nat -> 0 <= dot a (apply_word matrices word (ones n))) ->
  (forall word, spelled word -> length word = depth -> forall r, In r rays -> 0 <= dot a (apply_word matrices word r)) ->
  forall word, spelled word -> word <> [] -> 0 <= dot a (apply_word matrices word (ones n)).
Proof.
  intros Hcover Htell Hclosed Hlast Hone Hstep Hshort Hlong.
  assert (Lone : length (ones n) = n) by apply repeat_length.
  assert (Hspan : forall x, length x = n -> (forall m, In m normals -> 0 <= dot m x) -> spanned n rays (masked kept x)).
  { intros x Lx Hx. assert (Lm : length (masked kept x) = n) by (apply masked_length; assumption). apply Hcover; [exact Lm | |].
    - intros i. apply masked_outside.
    - intros m Hm. rewrite <- (Htell m Hm x (masked kept x) Lx Lm); [apply Hx; exact Hm | apply masked_agree; congruence]. }
  assert (Hinv : forall word, spelled word -> forall m, In m normals -> 0 <= dot m (apply_word matrices word (ones n))).
  { induction word as [|o word IH]; intros Hw m Hm; [apply Hone; exact Hm|]. inversion Hw as [|? ? Ho Hw']; subst.
    set (x := apply_word matrices word (ones n)).
    assert (Lx : length x = n) by (apply apply_word_length; assumption).
    change (0 <= dot m (apply (matrices o) x)).
    rewrite (Hclosed o m Ho Hm x (masked kept x) Lx);
      [|apply masked_length; assumption | apply masked_agree; congruence].
    apply (spanned_apply_dot n rays); [exact rays_long | |].
    - intros r Hr. apply Hstep; assumption.
    - apply Hspan; [exact Lx | apply IH; exact Hw']. }
  intros word Hw Hne. destruct (Nat.lt_ge_cases (length word) depth) as [Hlt|Hge].
  - apply Hshort; [exact Hw|]. split; [|exact Hlt]. destruct word; [congruence | simpl; lia].
  - rewrite <- (firstn_skipn depth word), apply_word_app.
    assert (Hboth : spelled (firstn depth word) /\ spelled (skipn depth word)).
    { apply Forall_app. rewrite firstn_skipn. exact Hw. }
    destruct Hboth as [Hw1 Hw2]. assert (Ld : length (firstn depth word) = depth) by (apply firstn_length_le; exact Hge).
    set (x := apply_word matrices (skipn depth word) (ones n)).
    assert (Lx : length x = n) by (apply apply_word_length; assumption).
    rewrite (Hlast _ Hw1 Ld x (masked kept x) Lx); [|apply masked_length; assumption | apply masked_agree; congruence].
    apply (spanned_apply_word_dot n rays); [exact square | exact rays_long | |].
    + intros r Hr. apply Hlong; assumption.
    + apply Hspan; [exact Lx | apply Hinv; exact Hw2].
Qed.

End Cones.
