(** The claims of a hidden Markov model, computed from its steps, and that they are enough: for sequences of given
    lengths, and for those of every length. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Paramverify Require Import Expressions Sums Privacy Symbolic Hmm Coverings Masks.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint all_some {A} (l : list (option A)) : option (list A) :=
  match l with
  | [] => Some []
  | x :: rest => both cons x (all_some rest)
  end.

Lemma all_some_right {A B} (f : B -> option A) (l : list B) (found : list A) :
  all_some (map f l) = Some found -> Forall2 (fun b a => f b = Some a) l found.
Proof.
  revert found. induction l as [|b l IH]; simpl; intros found H.
  - injection H as <-. constructor.
  - destruct (f b) as [a|] eqn:E; [|discriminate]. destruct (all_some (map f l)) as [rest|]; [|discriminate].
    injection H as <-. constructor; [exact E | apply IH; reflexivity].
Qed.

Lemma map_repeat {A B} (f : A -> B) x k : map f (repeat x k) = repeat (f x) k.
Proof. induction k as [|k IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma forall2_length {A B} (P : A -> B -> Prop) l m : Forall2 P l m -> length l = length m.
Proof. induction 1; simpl; congruence. Qed.

Section Sequences.
Variable K : algebra.
Notation fraction := (fraction K).
Notation amount := (amount K).

Definition amounts (p : point) (v : list fraction) : vector := map (amount p) v.

Definition is_zero (f : fraction) : bool := match number K (top K f) with Some Z0 => true | _ => false end.

Fixpoint dot_fractions (a b : list fraction) : fraction :=
  match a, b with
  | x :: a, y :: b =>
      let rest := dot_fractions a b in
      if is_zero x then rest else if is_zero y then rest else plus_fractions K (times_fractions K x y) rest
  | _, _ => none K
  end.

Lemma is_zero_right f : is_zero f = true -> forall p, amount p f = 0.
Proof.
  unfold is_zero. destruct (number K (top K f)) as [[|z|z]|] eqn:E; try discriminate. intros _ p.
  apply (number_right K p) in E. unfold Symbolic.amount. rewrite E. unfold Rdiv. apply Rmult_0_l.
Qed.

Lemma dot_fractions_right a b : Forall (proper K) a -> Forall (proper K) b ->
  proper K (dot_fractions a b) /\
  forall p, inside K p -> amount p (dot_fractions a b) = dot (amounts p a) (amounts p b).
Proof.
  intros Ha. revert b. induction Ha as [|x a Hx Ha IH]; intros b Hb; simpl.
  - split; [apply of_poly_proper | intros p _; apply none_right].
  - destruct Hb as [|y b Hy Hb]; simpl; [split; [apply of_poly_proper | intros p _; apply none_right]|].
    destruct (IH b Hb) as [H1 H2].
    destruct (is_zero x) eqn:Ex.
    { split; [exact H1|]. intros p Hp. rewrite H2, (is_zero_right x Ex) by exact Hp. lra. }
    destruct (is_zero y) eqn:Ey.
    { split; [exact H1|]. intros p Hp. rewrite H2, (is_zero_right y Ey) by exact Hp. lra. }
    split; [apply plus_proper; [apply times_proper|]; assumption|].
    intros p Hp. rewrite plus_right, times_right, H2 by (try apply times_proper; assumption). reflexivity.
Qed.

Definition apply_fractions (m : list (list fraction)) (v : list fraction) : list fraction :=
  map (fun row => dot_fractions row v) m.

Lemma apply_fractions_right m v : Forall (Forall (proper K)) m -> Forall (proper K) v ->
  Forall (proper K) (apply_fractions m v) /\
  forall p, inside K p -> amounts p (apply_fractions m v) = apply (map (amounts p) m) (amounts p v).
Proof.
  intros Hm Hv. induction Hm as [|row m Hrow Hm IH]; simpl.
  - split; [constructor | reflexivity].
  - destruct IH as [H1 H2]. destruct (dot_fractions_right row v Hrow Hv) as [H3 H4].
    split; [constructor; assumption|]. intros p Hp. unfold amounts, apply in *; simpl. rewrite H2, H4 by exact Hp. reflexivity.
Qed.

Definition of_whole (z : Z) : fraction := of_poly K (whole K z).
Definition of_wholes (v : list Z) : list fraction := map of_whole v.

Lemma of_wholes_right v : Forall (proper K) (of_wholes v) /\ forall p, amounts p (of_wholes v) = reals v.
Proof.
  induction v as [|z v [H1 H2]]; simpl; [split; [constructor | reflexivity]|].
  split; [constructor; [apply of_poly_proper | exact H1]|]. intros p. unfold amounts, reals in *; simpl.
  rewrite H2. unfold of_whole. rewrite of_poly_right, whole_right. reflexivity.
Qed.

(** ** The model *)

Variable h : hidden_markov.
Notation n := (states h).

Definition matrix_values (p : point) (o : nat) : list vector :=
  map (fun s => map (fun t => value p (move h o s t)) (all_states h)) (all_states h).

(** What the steps of one symbol, and those from one state, have in common is computed once. *)
Definition matrix_of (o : nat) : option (list (list fraction)) :=
  let of_symbol := move h o in
  all_some (map (fun s => let of_state := of_symbol s in all_some (map (fun t => fraction_of K (of_state t)) (all_states h)))
                (all_states h)).

Definition matrices_of : option (list (list (list fraction))) := all_some (map matrix_of (seq 0 (symbols h))).

Definition start_of (w : weights) : option (list fraction) :=
  all_some (map (fun s => fraction_of K (w s)) (all_states h)).

Definition start_values (p : point) (w : weights) : vector := map (fun s => value p (w s)) (all_states h).

Lemma fractions_right {B} (f : B -> expression) (l : list B) (found : list fraction) :
  all_some (map (fun b => fraction_of K (f b)) l) = Some found ->
  Forall (proper K) found /\ forall p, inside K p -> amounts p found = map (fun b => value p (f b)) l.
Proof.
  intros H. apply all_some_right in H. induction H as [|b a l found Hb H [IH1 IH2]].
  - split; [constructor | reflexivity].
  - destruct (fraction_of_right K _ _ Hb) as [P V]. split; [constructor; assumption|].
    intros p Hp. unfold amounts in *; simpl. rewrite IH2, V by exact Hp. reflexivity.
Qed.

Lemma rows_right (entry : nat -> nat -> expression) (l l' : list nat) (m : list (list fraction)) :
  all_some (map (fun s => all_some (map (fun t => fraction_of K (entry s t)) l')) l) = Some m ->
  Forall (Forall (proper K)) m /\
  forall p, inside K p -> map (amounts p) m = map (fun s => map (fun t => value p (entry s t)) l') l.
Proof.
  intros H. apply all_some_right in H. induction H as [|s row l m Hs H [IH1 IH2]].
  - split; [constructor | reflexivity].
  - apply fractions_right in Hs. destruct Hs as [P V]. split; [constructor; assumption|].
    intros p Hp. simpl. rewrite IH2, V by exact Hp. reflexivity.
Qed.

Lemma matrix_of_right o m : matrix_of o = Some m ->
  Forall (Forall (proper K)) m /\ forall p, inside K p -> map (amounts p) m = matrix_values p o.
Proof. exact (rows_right (move h o) (all_states h) (all_states h) m). Qed.

Lemma dot_total {A} (f g : A -> R) l : dot (map f l) (map g l) = total (fun x => f x * g x) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma map_ones {A} (l : list A) : map (fun _ => 1) l = ones (length l).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. unfold ones in *; simpl. rewrite IH. reflexivity. Qed.

Lemma onwards_right p word : map (onwards p h word) (all_states h) = apply_word (matrix_values p) word (ones n).
Proof.
  induction word as [|o word IH]; simpl.
  - rewrite map_ones. unfold all_states. rewrite seq_length. reflexivity.
  - rewrite <- IH. unfold apply, matrix_values. rewrite map_map. apply map_ext_in. intros s _.
    rewrite dot_total. reflexivity.
Qed.

Lemma weight_with_right p w word :
  weight_with p h w word = dot (start_values p w) (apply_word (matrix_values p) word (ones n)).
Proof. rewrite <- onwards_right. unfold start_values. rewrite dot_total. reflexivity. Qed.

Lemma weight_of_right p w : weight_of p h w = dot (start_values p w) (ones n).
Proof.
  replace (ones n) with (map (fun _ : nat => 1) (all_states h)).
  - unfold start_values. rewrite dot_total. apply total_ext. intros; lra.
  - rewrite map_ones. unfold all_states. rewrite seq_length. reflexivity.
Qed.

(** ** One comparison *)

Definition mass_of (start : list fraction) : fraction := dot_fractions start (of_wholes (repeat 1%Z n)).

Definition compared_at (c : fraction) (left right : list fraction) (v : list fraction) : bool :=
  let pi := dot_fractions left v in
  let tau := dot_fractions right v in
  proved K (claim K c (times_fractions K pi (mass_of right)) (times_fractions K tau (mass_of left))).

(** That a left secret is within the bound of a right one, as a vector whose product with a vector of
    probabilities is to be at least zero. *)
Definition excess (c : R) (left right : vector) (ml mr : R) : vector :=
  plus_scaled (c * ml) right (plus_scaled (- mr) left (zeros n)).

Lemma dot_excess c left right ml mr v : length left = n -> length right = n ->
  dot (excess c left right ml mr) v = c * ml * dot right v - mr * dot left v.
Proof.
  intros Hl Hr. unfold excess.
  assert (dot_left : forall w (a b : vector), length a = length b -> dot (plus_scaled w a b) v = w * dot a v + dot b v).
  { intros w a. revert v. induction a as [|x a IH]; intros v [|y b] H; try discriminate; destruct v as [|z v]; simpl; try lra.
    fold (plus_scaled w a b). injection H as H. rewrite IH by exact H. lra. }
  assert (Hz : length (zeros n) = n) by apply repeat_length.
  rewrite dot_left by (rewrite (length_plus_scaled _ _ _ n); congruence).
  rewrite dot_left by congruence.
  assert (H0 : forall k (u : vector), dot (zeros k) u = 0).
  { induction k as [|k IH]; intros [|x u]; simpl; try reflexivity. fold (zeros k). rewrite IH. lra. }
  rewrite H0. lra.
Qed.

Lemma mass_of_right start : Forall (proper K) start ->
  proper K (mass_of start) /\ forall p, inside K p -> amount p (mass_of start) = dot (amounts p start) (ones n).
Proof.
  intros H. destruct (of_wholes_right (repeat 1%Z n)) as [H1 H2].
  destruct (dot_fractions_right start _ H H1) as [H3 H4]. split; [exact H3|].
  intros p Hp. unfold mass_of. rewrite H4, H2 by exact Hp. f_equal. unfold reals, ones. rewrite map_repeat. reflexivity.
Qed.

Lemma compared_at_right c left right v : proper K c -> Forall (proper K) left -> Forall (proper K) right ->
  Forall (proper K) v -> length left = n -> length right = n -> compared_at c left right v = true ->
  forall p, inside K p ->
    0 <= dot (excess (amount p c) (amounts p left) (amounts p right) (amount p (mass_of left)) (amount p (mass_of right)))
             (amounts p v).
Proof.
  intros Hc Hl Hr Hv Ll Lr H p Hp. unfold compared_at in H. apply (proved_right K p) in H; [|exact Hp].
  destruct (dot_fractions_right left v Hl Hv) as [P1 V1]. destruct (dot_fractions_right right v Hr Hv) as [P2 V2].
  destruct (mass_of_right left Hl) as [P3 V3]. destruct (mass_of_right right Hr) as [P4 V4].
  apply claim_right in H; [|exact Hc | apply times_proper; assumption | apply times_proper; assumption | exact Hp].
  rewrite !times_right, V1, V2 in H by assumption.
  rewrite dot_excess by (unfold amounts; rewrite map_length; assumption). lra.
Qed.

(** From the vectors of words to privacy. *)
Lemma comparisons_imply_privacy (about : list nat -> Prop) c pairs p :
  (forall left right, In (left, right) pairs -> forall word, spelled h word -> about word ->
     0 <= dot (excess c (start_values p left) (start_values p right) (weight_of p h left) (weight_of p h right))
              (apply_word (matrix_values p) word (ones n))
     /\ 0 <= dot (excess c (start_values p right) (start_values p left) (weight_of p h right) (weight_of p h left))
              (apply_word (matrix_values p) word (ones n))) ->
  sequences_private p h about c pairs.
Proof.
  intros H left right Hin Hl Hr word Hw Ha. destruct (H left right Hin word Hw Ha) as [H1 H2].
  assert (L : forall w, length (start_values p w) = n).
  { intros w. unfold start_values, all_states. rewrite map_length, seq_length. reflexivity. }
  rewrite dot_excess in H1, H2 by apply L. rewrite <- !weight_with_right in H1, H2. unfold sequence_probability.
  split; apply ratio_of_products; lra.
Qed.

(** ** Given lengths *)

Fixpoint level (ms : list (list (list fraction))) (v : list fraction) (k : nat) : list (list fraction) :=
  match k with
  | O => [v]
  | S k => flat_map (fun u => map (fun m => apply_fractions m u) ms) (level ms v k)
  end.

Lemma matrices_right ms : matrices_of = Some ms ->
  forall o, (o < symbols h)%nat -> exists m, In m ms /\ Forall (Forall (proper K)) m /\
    forall p, inside K p -> map (amounts p) m = matrix_values p o.
Proof.
  unfold matrices_of. intros H o Ho. apply all_some_right in H.
  assert (Hin : In o (seq 0 (symbols h))) by (apply in_seq; lia).
  induction H as [|b m l ms Hb H IH]; [destruct Hin|]. destruct Hin as [->|Hin].
  - exists m. split; [left; reflexivity | apply matrix_of_right; exact Hb].
  - destruct (IH Hin) as [m' [A B]]. exists m'. split; [right; exact A | exact B].
Qed.

Lemma level_right ms v : matrices_of = Some ms -> Forall (proper K) v ->
  forall word, spelled h word -> exists u, In u (level ms v (length word)) /\ Forall (proper K) u /\
    forall p, inside K p -> amounts p u = apply_word (matrix_values p) word (amounts p v).
Proof.
  intros Hms Hv. induction word as [|o word IH]; intros Hw; simpl.
  - exists v. split; [left; reflexivity|]. split; [exact Hv | reflexivity].
  - inversion Hw as [|? ? Ho Hw']; subst. destruct (IH Hw') as [u [Hu [Pu Vu]]].
    destruct (matrices_right ms Hms o Ho) as [m [Hm [Pm Vm]]].
    destruct (apply_fractions_right m u Pm Pu) as [P V].
    exists (apply_fractions m u). split; [|split; [exact P|]].
    + apply in_flat_map. exists u. split; [exact Hu|]. apply in_map_iff. exists m. split; [reflexivity | exact Hm].
    + intros p Hp. rewrite V, Vm, Vu by exact Hp. reflexivity.
Qed.

Definition one_vector : list fraction := of_wholes (repeat 1%Z n).

Lemma one_vector_right : Forall (proper K) one_vector /\ forall p, amounts p one_vector = ones n.
Proof.
  destruct (of_wholes_right (repeat 1%Z n)) as [H1 H2]. split; [exact H1|]. intros p. unfold one_vector. rewrite H2.
  unfold reals, ones. rewrite map_repeat. reflexivity.
Qed.

(** [test c left right] for each pair, in both directions. *)
Definition for_pairs (ratio : expression) (pairs : list (weights * weights))
    (test : fraction -> list fraction -> list fraction -> bool) : bool :=
  match fraction_of K ratio with
  | Some c =>
      forallb (fun pair =>
        match start_of (fst pair), start_of (snd pair) with
        | Some l, Some r => test c l r && test c r l
        | _, _ => false
        end) pairs
  | None => false
  end.

Lemma start_of_right w start : start_of w = Some start ->
  Forall (proper K) start /\ length start = n /\ forall p, inside K p ->
    amounts p start = start_values p w /\ amount p (mass_of start) = weight_of p h w.
Proof.
  intros H. pose proof H as H'. apply fractions_right in H'. destruct H' as [P V].
  assert (L : length start = n).
  { apply all_some_right, forall2_length in H. unfold all_states in H. rewrite seq_length in H. congruence. }
  split; [exact P|]. split; [exact L|]. intros p Hp. split; [apply V; exact Hp|].
  rewrite (proj2 (mass_of_right start P)) by exact Hp. rewrite V, weight_of_right by exact Hp. reflexivity.
Qed.

Lemma for_pairs_right ratio pairs test (about : list nat -> Prop) :
  for_pairs ratio pairs test = true ->
  (forall c left right, proper K c -> Forall (proper K) left -> Forall (proper K) right ->
     length left = n -> length right = n -> test c left right = true ->
     forall p, inside K p -> forall word, spelled h word -> about word ->
       0 <= dot (excess (amount p c) (amounts p left) (amounts p right) (amount p (mass_of left)) (amount p (mass_of right)))
                (apply_word (matrix_values p) word (ones n))) ->
  forall p, inside K p -> sequences_private p h about (value p ratio) pairs.
Proof.
  unfold for_pairs. destruct (fraction_of K ratio) as [c|] eqn:E; [|discriminate].
  destruct (fraction_of_right K _ _ E) as [Pc Vc]. rewrite forallb_forall. intros H Htest p Hp.
  apply comparisons_imply_privacy. intros left right Hin word Hw Ha. specialize (H _ Hin). simpl in H.
  destruct (start_of left) as [l|] eqn:El; [|discriminate]. destruct (start_of right) as [r|] eqn:Er; [|discriminate].
  apply andb_true_iff in H. destruct H as [H1 H2].
  destruct (start_of_right _ _ El) as [Pl [Ll Vl]]. destruct (start_of_right _ _ Er) as [Pr [Lr Vr]].
  destruct (Vl p Hp) as [Vl1 Vl2]. destruct (Vr p Hp) as [Vr1 Vr2].
  rewrite Vc, <- Vl1, <- Vl2, <- Vr1, <- Vr2 by exact Hp.
  split; [apply (Htest c l r) | apply (Htest c r l)]; assumption.
Qed.

Definition keeps_lengths (lengths : list nat) (ratio : expression) (pairs : list (weights * weights)) : bool :=
  match matrices_of with
  | Some ms =>
      let levels := map (level ms one_vector) lengths in
      for_pairs ratio pairs (fun c left right => forallb (forallb (compared_at c left right)) levels)
  | None => false
  end.

Theorem lengths_proved lengths ratio pairs :
  keeps_lengths lengths ratio pairs = true ->
  forall p, inside K p -> sequences_private p h (fun word => In (length word) lengths) (value p ratio) pairs.
Proof.
  unfold keeps_lengths. destruct matrices_of as [ms|] eqn:E; [|discriminate]. intros H.
  apply (for_pairs_right _ _ _ _ H). clear H. intros c left right Hc Hl Hr Ll Lr H p Hp word Hw Hlen.
  rewrite forallb_forall in H. specialize (H _ (in_map (level ms one_vector) _ _ Hlen)). rewrite forallb_forall in H.
  destruct one_vector_right as [P1 V1].
  destruct (level_right ms one_vector E P1 word Hw) as [u [Hu [Pu Vu]]].
  rewrite <- (V1 p), <- Vu by exact Hp. apply compared_at_right; try assumption. apply H. exact Hu.
Qed.

(** ** Every length, by a cone of bounded ratios *)

Definition at_least_zero (f : fraction) : bool := proved K (top K f).

Lemma at_least_zero_right f : proper K f -> at_least_zero f = true -> forall p, inside K p -> 0 <= amount p f.
Proof.
  intros Hf H p Hp. unfold at_least_zero in H. apply (proved_right K p) in H; [|exact Hp]. specialize (Hf p Hp).
  unfold Symbolic.amount. apply Rmult_le_pos; [exact H|]. left. apply Rinv_0_lt_compat.
  apply Rmult_lt_0_compat; [apply low_positive | exact Hf].
Qed.

(** A cone that lives on the states that are kept, and where one can be after 0, 1, 2, ... steps: in the end, there. *)
Record cone := {
  normals : list whole_vector;
  rays : list whole_vector;
  cover : covering;
  kept : list bool;
  reach : list (list bool)
}.

Definition zero_entry (z : Z) : bool := Z.eqb z 0.

Lemma zero_entry_right z : zero_entry z = true -> IZR z = 0.
Proof. intros H. apply Z.eqb_eq in H. subst z. reflexivity. Qed.

Definition keeps_every_length (k : cone) (ratio : expression) (pairs : list (weights * weights)) : bool :=
  match matrices_of, reach k with
  | Some ms, r0 :: more =>
      Nat.eqb (length (kept k)) n
      && forallb (fun r => Nat.eqb (length r) n) (rays k)
      && forallb (fun m => supported Z zero_entry m (kept k) && (0 <=? whole_dot m (repeat 1 n))%Z) (normals k)
      && covered n (rays k) (cover k) (normals k) (outside n (kept k))
      && forallb (fun m => leads fraction is_zero m (kept k) (kept k)) ms
      && forallb (fun m => forallb (fun r => let v := apply_fractions m (of_wholes r) in
           forallb (fun a => at_least_zero (dot_fractions (of_wholes a) v)) (normals k)) (rays k)) ms
      && path fraction is_zero n ms r0 more && subset (ending r0 more) (kept k)
      && let short := map (level ms one_vector) (seq 1 (length more - 1)) in
         let long := map (fun r => level ms (of_wholes r) (length more)) (rays k) in
         for_pairs ratio pairs (fun c left right =>
           supported fraction is_zero left r0 && supported fraction is_zero right r0
           && forallb (forallb (compared_at c left right)) short && forallb (forallb (compared_at c left right)) long)
  | _, _ => false
  end.

Theorem every_length_proved k ratio pairs :
  keeps_every_length k ratio pairs = true ->
  forall p, inside K p -> sequences_private p h of_any_length (value p ratio) pairs.
Proof.
  unfold keeps_every_length. destruct matrices_of as [ms|] eqn:E; [|discriminate].
  destruct (reach k) as [|r0 more]; [discriminate|]. intros H.
  rewrite !andb_true_iff in H. destruct H as [[[[[[[[H0 H1] H2] H3] Hl] H4] Hp] Hs] H5].
  apply Nat.eqb_eq in H0. rewrite forallb_forall in H2, Hl.
  assert (Hrays : Forall (fun r => length r = n) (rays k)).
  { apply Forall_forall. intros r Hr. rewrite forallb_forall in H1. apply Nat.eqb_eq. apply H1. exact Hr. }
  apply (for_pairs_right _ _ _ _ H5). clear H5. intros c left right Hc Hleft Hr Ll Lr H p Hp' word Hw Hne.
  rewrite !andb_true_iff in H. destruct H as [[[Sl Sr] H5] H6].
  assert (Hzero : forall f, is_zero f = true -> amount p f = 0) by (intros f Hf; apply is_zero_right; exact Hf).
  assert (Hsquare : forall o, length (matrix_values p o) = n).
  { intros o. unfold matrix_values, all_states. rewrite map_length, seq_length. reflexivity. }
  assert (Htables : forall o, (o < symbols h)%nat -> exists t, In t ms /\ matrix_values p o = map (map (amount p)) t).
  { intros o Ho. destruct (matrices_right ms E o Ho) as [t [Ht [_ Vt]]]. exists t. split; [exact Ht|].
    symmetry. apply Vt. exact Hp'. }
  assert (Htell : forall z, In z (normals k) -> tells n (kept k) (dot (reals z))).
  { intros z Hz x y Lx Ly A. specialize (H2 z Hz). apply andb_true_iff in H2. destruct H2 as [S _].
    pose proof (supported_length _ _ S) as Lz.
    apply (supported_right Z zero_entry IZR zero_entry_right z (kept k)); try assumption; congruence. }
  apply (masked_cone n (symbols h) (matrix_values p) Hsquare (map reals (rays k))) with
    (kept := kept k) (normals := map reals (normals k)) (depth := length more); try assumption.
  - apply Forall_forall. intros r Hin. apply in_map_iff in Hin. destruct Hin as [z [<- Hin]].
    unfold reals. rewrite map_length. rewrite Forall_forall in Hrays. apply Hrays. exact Hin.
  - intros v Lv Hv Hm. apply (covering_right n (rays k) (cover k) Hrays (normals k) (outside n (kept k))); try assumption.
    + intros m Hin. apply Hm. apply in_map. exact Hin.
    + apply outside_zero. exact Hv.
  - intros m Hin. apply in_map_iff in Hin. destruct Hin as [z [<- Hin]]. apply Htell. exact Hin.
  - intros o m Ho Hin x y Lx Ly A. apply in_map_iff in Hin. destruct Hin as [z [<- Hin]].
    apply (Htell z Hin); try (unfold apply; rewrite map_length; apply Hsquare).
    destruct (Htables o Ho) as [t [Ht Et]]. rewrite Et.
    apply (leads_right fraction is_zero (amount p) Hzero n t (kept k) (kept k)); try assumption. apply Hl. exact Ht.
  - intros w Hw' Lw x y Lx Ly A.
    assert (A' : agree r0 (apply_word (matrix_values p) w x) (apply_word (matrix_values p) w y)).
    { apply (path_right fraction is_zero (amount p) Hzero n (symbols h) (matrix_values p) ms more); try assumption.
      apply (subset_agree _ (kept k)); assumption. }
    assert (Lwx : length (apply_word (matrix_values p) w x) = n) by (apply apply_word_length; assumption).
    assert (Lwy : length (apply_word (matrix_values p) w y) = n) by (apply apply_word_length; assumption).
    assert (Esame : forall z, length z = n -> supported fraction is_zero z r0 = true ->
              dot (amounts p z) (apply_word (matrix_values p) w x) = dot (amounts p z) (apply_word (matrix_values p) w y)).
    { intros z Lz Sz. apply (supported_right fraction is_zero (amount p) Hzero z r0); try assumption; congruence. }
    rewrite !dot_excess by (unfold amounts; rewrite map_length; assumption).
    rewrite (Esame left Ll Sl), (Esame right Lr Sr). reflexivity.
  - intros m Hin. apply in_map_iff in Hin. destruct Hin as [z [<- Hin]].
    specialize (H2 z Hin). apply andb_true_iff in H2. destruct H2 as [_ H2]. apply Z.leb_le in H2. apply IZR_le in H2.
    rewrite <- whole_dot_right in H2. unfold reals in H2. rewrite map_repeat in H2. exact H2.
  - intros o Ho r Hin m Hin'. apply in_map_iff in Hin. destruct Hin as [zr [<- Hzr]].
    apply in_map_iff in Hin'. destruct Hin' as [zm [<- Hzm]].
    destruct (matrices_right ms E o Ho) as [mt [Hmt [Pm Vm]]].
    rewrite forallb_forall in H4. specialize (H4 _ Hmt). rewrite forallb_forall in H4. specialize (H4 _ Hzr).
    simpl in H4. rewrite forallb_forall in H4. specialize (H4 _ Hzm).
    destruct (of_wholes_right zr) as [Pz Vz]. destruct (of_wholes_right zm) as [Pa Va].
    destruct (apply_fractions_right mt (of_wholes zr) Pm Pz) as [Pv Vv].
    destruct (dot_fractions_right (of_wholes zm) _ Pa Pv) as [Pd Vd].
    apply (at_least_zero_right _ Pd H4) in Hp' as H7. rewrite Vd, Vv, Vm, Va, Vz in H7 by exact Hp'. exact H7.
  - intros w Hw' [Hlt1 Hlt2]. rewrite forallb_forall in H5.
    assert (Hlen : In (length w) (seq 1 (length more - 1))) by (apply in_seq; lia).
    specialize (H5 _ (in_map (level ms one_vector) _ _ Hlen)). rewrite forallb_forall in H5.
    destruct one_vector_right as [P1 V1].
    destruct (level_right ms one_vector E P1 w Hw') as [u [Hu [Pu Vu]]].
    rewrite <- (V1 p), <- Vu by exact Hp'. apply compared_at_right; try assumption. apply H5. exact Hu.
  - intros w Hw' Hlen r Hin. apply in_map_iff in Hin. destruct Hin as [zr [<- Hzr]].
    rewrite forallb_forall in H6. specialize (H6 _ (in_map (fun r => level ms (of_wholes r) (length more)) _ _ Hzr)).
    rewrite forallb_forall in H6.
    destruct (of_wholes_right zr) as [Pz Vz].
    destruct (level_right ms (of_wholes zr) E Pz w Hw') as [u [Hu [Pu Vu]]]. rewrite Hlen in Hu.
    rewrite <- (Vz p), <- Vu by exact Hp'. apply compared_at_right; try assumption. apply H6. exact Hu.
Qed.

End Sequences.
