(** Sums of positive parts of fractions, and what they are at most.

    A certificate has sums of which this is known. Others are compared with them: each fraction has to be so many
    times one of the terms. *)

From Coq Require Import Reals ZArith List Lra Lia Bool QArith Qreals.
From Paramverify Require Import Expressions Sums Symbolic Sequences Search.
Import ListNotations.
Local Open Scope R_scope.

(** Sums of max(0, t) over some terms t, each with what it is at most; [share f t] says how many times t is f. *)
Record known_sums (K : algebra) := {
  term : Type;
  term_at : point -> term -> R;
  share : poly K -> term -> option Q;
  listed_sums : list (term * list term);
  share_right : forall f t q, share f t = Some q -> 0 <= Q2R q /\ forall p, at_point K p f = Q2R q * term_at p t;
  sums_right : forall room ts, In (room, ts) listed_sums -> forall p, inside K p ->
    total (fun t => Rmax 0 (term_at p t)) ts <= term_at p room
}.

Section Excesses.
Variable K : algebra.
Variable S : known_sums K.
Notation fraction := (fraction K).
Notation amount := (amount K).
Notation poly := (poly K).
Notation term := (term K S).
Notation term_at := (term_at K S).

(** ** Sums of fractions *)

(** A polynomial over a whole number. *)
Definition part := (poly * positive)%type.
Definition part_at (p : point) (g : part) : R := at_point K p (fst g) / IZR (Zpos (snd g)).

(** The bottom of all fractions; some have none. *)
Fixpoint common_bottom (fs : list fraction) : poly :=
  match fs with
  | [] => one K
  | f :: rest => if equal K (bottom K f) (one K) then common_bottom rest else bottom K f
  end.

(** A fraction times its bottom b and times x. *)
Definition cleared (b x : poly) (f : fraction) : option part :=
  if equal K (bottom K f) b then Some (times_bottoms K (top K f) x, low K f)
  else if equal K (bottom K f) (one K) then Some (times_bottoms K (top K f) (times_bottoms K b x), low K f)
  else None.

Lemma common_bottom_right fs p : Forall (proper K) fs -> inside K p -> 0 < at_point K p (common_bottom fs).
Proof.
  intros H Hp. induction H as [|f fs Hf H IH]; simpl; [rewrite at_one; lra|].
  destruct (equal K (bottom K f) (one K)); [exact IH | apply Hf; exact Hp].
Qed.

Lemma cleared_right b x f g p : cleared b x f = Some g -> proper K f -> inside K p ->
  part_at p g = amount p f * (at_point K p b * at_point K p x).
Proof.
  intros H Hf Hp. specialize (Hf p Hp). unfold cleared in H. unfold part_at, Symbolic.amount.
  pose proof (low_positive (low K f)) as L.
  destruct (equal K (bottom K f) b) eqn:E.
  - injection H as <-. apply (equal_right K p) in E. simpl. rewrite times_bottoms_right, <- E. field. split; lra.
  - destruct (equal K (bottom K f) (one K)) eqn:E'; [|discriminate]. injection H as <-.
    apply (equal_right K p) in E'. rewrite at_one in E'. simpl. rewrite !times_bottoms_right, E'. field. lra.
Qed.

(** ** Terms and how many of each are spent *)

Fixpoint spend (g : part) (spent : list (term * Q)) : option (list (term * Q)) :=
  match spent with
  | [] => None
  | (t, q) :: rest =>
      match share K S (fst g) t with
      | Some s => Some ((t, Qred (s * (1 # snd g) + q)) :: rest)
      | None => option_map (cons (t, q)) (spend g rest)
      end
  end.

Fixpoint spend_all (gs : list part) (spent : list (term * Q)) : option (list (term * Q)) :=
  match gs with
  | [] => Some spent
  | g :: rest =>
      match number K (fst g) with
      | Some Z0 => spend_all rest spent
      | _ => match spend g spent with Some spent => spend_all rest spent | None => None end
      end
  end.

(** What is spent is no more of any term than is there of the sum. *)
Definition settles (gs : list part) (h : part) (sum : term * list term) : bool :=
  match share K S (fst h) (fst sum), spend_all gs (map (fun t => (t, 0%Q)) (snd sum)) with
  | Some s, Some spent => forallb (fun entry => Qle_bool (snd entry) (s * (1 # snd h))) spent
  | _, _ => false
  end.

Definition worth (p : point) (spent : list (term * Q)) : R :=
  total (fun entry => Q2R (snd entry) * Rmax 0 (term_at p (fst entry))) spent.

Lemma over_right s l : Q2R (s * (1 # l)) = Q2R s / IZR (Zpos l).
Proof. rewrite Q2R_mult. unfold Rdiv. f_equal. unfold Q2R; simpl. lra. Qed.

Lemma share_of_part g t s p : share K S (fst g) t = Some s ->
  part_at p g = Q2R (s * (1 # snd g)) * term_at p t /\ 0 <= Q2R (s * (1 # snd g)).
Proof.
  intros H. destruct (share_right K S _ _ _ H) as [Hs V]. rewrite over_right. unfold part_at. rewrite V.
  pose proof (low_positive (snd g)) as L. split; [field; lra|].
  apply Rmult_le_pos; [exact Hs|]. left. apply Rinv_0_lt_compat. exact L.
Qed.

Lemma positive_multiple q x : 0 <= q -> Rmax 0 (q * x) = q * Rmax 0 x.
Proof. intros H. rewrite <- (Rmult_0_r q) at 1. apply RmaxRmult. exact H. Qed.

Lemma spend_right g spent more : spend g spent = Some more ->
  map fst more = map fst spent /\ forall p, worth p more = Rmax 0 (part_at p g) + worth p spent.
Proof.
  revert more. induction spent as [|[t q] spent IH]; cbn [spend]; intros more H; [discriminate|].
  destruct (share K S (fst g) t) as [s|] eqn:E.
  - assert (M : more = (t, Qred (s * (1 # snd g) + q)) :: spent) by congruence. clear H. subst more.
    split; [reflexivity|]. intros p. unfold worth; cbn [total fst snd].
    destruct (share_of_part g t s p E) as [V P].
    rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, V, positive_multiple by exact P. lra.
  - destruct (spend g spent) as [found|]; [|discriminate]. injection H as <-.
    destruct (IH _ eq_refl) as [H1 H2]. split; [simpl; congruence|].
    intros p. unfold worth in *; simpl. rewrite H2. lra.
Qed.

Lemma spend_all_right gs spent more : spend_all gs spent = Some more ->
  map fst more = map fst spent /\
  forall p, worth p more = total (fun g => Rmax 0 (part_at p g)) gs + worth p spent.
Proof.
  revert spent. induction gs as [|g gs IH]; simpl; intros spent H.
  - injection H as <-. split; [reflexivity|]. intros p. lra.
  - assert (step : (exists now, spend g spent = Some now /\ spend_all gs now = Some more) \/
      ((forall p, part_at p g = 0) /\ spend_all gs spent = Some more)).
    { destruct (number K (fst g)) as [[|z|z]|] eqn:E;
        try (left; destruct (spend g spent) as [now|]; [|discriminate]; exists now; split; [reflexivity | exact H]).
      right. split; [|exact H]. intros p. unfold part_at. rewrite (number_right K p _ _ E). unfold Rdiv. apply Rmult_0_l. }
    destruct step as [[now [H1 H2]] | [H1 H2]].
    + destruct (spend_right _ _ _ H1) as [A B]. destruct (IH _ H2) as [C D]. split; [congruence|].
      intros p. rewrite D, B. lra.
    + destruct (IH _ H2) as [C D]. split; [exact C|]. intros p. rewrite D, H1, Rmax_left by lra. lra.
Qed.

Lemma settles_right gs h sum p : In sum (listed_sums K S) -> inside K p -> settles gs h sum = true ->
  total (fun g => Rmax 0 (part_at p g)) gs <= part_at p h.
Proof.
  destruct sum as [room ts]. intros Hin Hp H. unfold settles in H; simpl in H.
  destruct (share K S (fst h) room) as [s|] eqn:E; [|discriminate].
  destruct (spend_all gs _) as [spent|] eqn:E'; [|discriminate]. rewrite forallb_forall in H.
  destruct (spend_all_right _ _ _ E') as [A B]. specialize (B p).
  assert (Z : worth p (map (fun t => (t, 0%Q)) ts) = 0).
  { unfold worth. rewrite total_map. apply total_zero. intros t _. unfold Q2R; simpl. lra. }
  destruct (share_of_part h room s p E) as [V P].
  assert (W : worth p spent <= Q2R (s * (1 # snd h)) * total (fun t => Rmax 0 (term_at p t)) ts).
  { rewrite map_map, map_id in A. rewrite <- A, total_map, <- total_scale. unfold worth. apply total_le.
    intros entry He. apply Rmult_le_compat_r; [apply Rmax_l|]. apply Qle_Rle, Qle_bool_iff. apply H. exact He. }
  pose proof (sums_right K S room ts Hin p Hp) as G.
  apply (Rmult_le_compat_l _ _ _ P) in G. lra.
Qed.

(** That the positive parts of fractions sum to at most another one. *)
Definition fits (fs : list fraction) (room : fraction) : bool :=
  let b := common_bottom fs in
  let c := bottom K room in
  let same := equal K b c in
  let x := if same then one K else c in
  let y := if same then one K else b in
  match all_some (map (cleared b x) fs), cleared c y room with
  | Some gs, Some h => any (settles gs h) (listed_sums K S)
  | _, _ => false
  end.

Lemma cleared_sum b x p : 0 < at_point K p b * at_point K p x -> inside K p ->
  forall fs gs, Forall (proper K) fs -> Forall2 (fun f g => cleared b x f = Some g) fs gs ->
  total (fun g => Rmax 0 (part_at p g)) gs
    = total (fun f => Rmax 0 (amount p f)) fs * (at_point K p b * at_point K p x).
Proof.
  intros Hb Hp fs gs Hfs H. induction H as [|f g fs gs Hg H IH]; simpl; [lra|].
  inversion Hfs; subst. rewrite IH by assumption. rewrite (cleared_right _ _ _ _ p Hg) by assumption.
  rewrite (Rmult_comm (amount p f)), positive_multiple by lra. lra.
Qed.

Lemma fits_right fs room : Forall (proper K) fs -> proper K room -> fits fs room = true ->
  forall p, inside K p -> total (fun f => Rmax 0 (amount p f)) fs <= amount p room.
Proof.
  intros Hfs Hroom H p Hp. unfold fits in H.
  pose proof (common_bottom_right fs p Hfs Hp) as Hb. set (b := common_bottom fs) in *.
  pose proof (Hroom p Hp) as Hc. set (c := bottom K room) in *.
  set (x := if equal K b c then one K else c) in *. set (y := if equal K b c then one K else b) in *.
  assert (Hxy : 0 < at_point K p b * at_point K p x /\ at_point K p b * at_point K p x = at_point K p c * at_point K p y).
  { unfold x, y. destruct (equal K b c) eqn:E.
    - apply (equal_right K p) in E. rewrite at_one, E in *. lra.
    - split; [apply Rmult_lt_0_compat; assumption | lra]. }
  destruct Hxy as [Hx Hy].
  destruct (all_some (map (cleared b x) fs)) as [gs|] eqn:E; [|discriminate].
  destruct (cleared c y room) as [h|] eqn:E'; [|discriminate].
  apply any_right in H. destruct H as [sum [Hin Hs]].
  pose proof (settles_right gs h sum p Hin Hp Hs) as G.
  apply all_some_right in E. rewrite (cleared_sum b x p Hx Hp fs gs Hfs E) in G.
  rewrite (cleared_right _ _ _ _ p E') in G by assumption. rewrite <- Hy in G.
  apply (Rmult_le_reg_r _ _ _ Hx). exact G.
Qed.

(** By how much one probability is more than c times another one, both multiplied by the mass of the other secret. *)
Definition beyond (c a m b n : fraction) : fraction :=
  plus_fractions K (times_fractions K a n) (minus_fraction K (times_fractions K c (times_fractions K b m))).

Lemma beyond_right c a m b n : proper K c -> proper K a -> proper K m -> proper K b -> proper K n ->
  proper K (beyond c a m b n) /\ forall p, inside K p ->
    amount p (beyond c a m b n) = amount p a * amount p n - amount p c * (amount p b * amount p m).
Proof.
  intros Hc Ha Hm Hb Hn. unfold beyond.
  assert (H1 : proper K (times_fractions K a n)) by (apply times_proper; assumption).
  assert (H2 : proper K (times_fractions K b m)) by (apply times_proper; assumption).
  assert (H3 : proper K (times_fractions K c (times_fractions K b m))) by (apply times_proper; assumption).
  split; [apply plus_proper; [|apply minus_proper]; assumption|]. intros p Hp.
  rewrite plus_right, minus_right, !times_right by (try apply minus_proper; assumption). lra.
Qed.

(** What is allowed beyond, multiplied by both masses. *)
Definition room_of (d m n : fraction) : fraction := times_fractions K d (times_fractions K m n).

Lemma room_of_right d m n : proper K d -> proper K m -> proper K n ->
  proper K (room_of d m n) /\ forall p, inside K p ->
    amount p (room_of d m n) = amount p d * (amount p m * amount p n).
Proof.
  intros Hd Hm Hn. unfold room_of. assert (H : proper K (times_fractions K m n)) by (apply times_proper; assumption).
  split; [apply times_proper; assumption|]. intros p Hp. rewrite !times_right by assumption. reflexivity.
Qed.

End Excesses.
