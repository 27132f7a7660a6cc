(** The outputs of programs with their probabilities, computed with polynomials; and that they are right.

    [outcomes] goes through a program as [run] does, but with fractions in the place of expressions, and runs that are
    in the same state are put together: so it goes through the graph of states, not through all ways. *)

From Coq Require Import Reals ZArith String Ascii List Lra Bool.
From Paramverify Require Import Expressions Sums Programs Privacy Symbolic OneShot Tallies Language.
Import ListNotations.
Local Open Scope R_scope.

(** ** Different outputs have different numbers *)

Lemma letters_apart s t x y : letters s ++ x = letters t ++ y -> s = t /\ x = y.
Proof.
  revert t. induction s as [|a s IH]; intros [|b t]; simpl; intros H; try discriminate.
  - injection H as H. split; [reflexivity | exact H].
  - injection H as Ha H. destruct (IH _ H) as [-> ->]. apply N2Z.inj in Ha.
    apply (f_equal ascii_of_N) in Ha. rewrite !ascii_N_embedding in Ha. subst b. split; reflexivity.
Qed.

Lemma code_apart u v x y : shown u = true -> shown v = true -> code u ++ x = code v ++ y -> u = v /\ x = y.
Proof.
  revert v x y. induction u as [z|b|s| |first IH1 rest IH2|e|]; intros v x y Hu Hv H;
    destruct v as [z'|b'|s'| |first' rest'|e'|]; simpl in *; try discriminate.
  - injection H as -> H. split; [reflexivity | exact H].
  - injection H as Hb H. split; [|exact H]. destruct b, b'; try reflexivity; discriminate.
  - injection H as H. apply letters_apart in H. destruct H as [-> ->]. split; reflexivity.
  - injection H as H. split; [reflexivity | exact H].
  - injection H as H. rewrite <- !app_assoc in H. apply andb_true_iff in Hu, Hv. destruct Hu as [U1 U2], Hv as [V1 V2].
    destruct (IH1 _ _ _ U1 V1 H) as [-> H']. destruct (IH2 _ _ _ U2 V2 H') as [-> ->]. split; reflexivity.
Qed.

Lemma code_not_nil v x : code v ++ x <> [].
Proof. destruct v; discriminate. Qed.

(** What is told is seen: nothing is lost by the numbers. *)
Theorem seen_apart l m : forallb shown l = true -> forallb shown m = true -> flat_map code l = flat_map code m -> l = m.
Proof.
  revert m. induction l as [|u l IH]; intros [|v m]; simpl; intros Hl Hm H; try reflexivity.
  - symmetry in H. destruct (code_not_nil _ _ H).
  - destruct (code_not_nil _ _ H).
  - apply andb_true_iff in Hl, Hm. destruct Hl as [U L], Hm as [V M].
    destruct (code_apart _ _ _ _ U V H) as [-> H']. f_equal. apply IH; assumption.
Qed.

(** ** Equal states *)

Definition expression_dec (a b : expression) : {a = b} + {a <> b}.
Proof. decide equality; [apply Z.eq_dec | apply Nat.eq_dec | apply Nat.eq_dec]. Defined.

Definition data_dec (a b : data) : {a = b} + {a <> b}.
Proof. decide equality; [apply Z.eq_dec | apply bool_dec | apply string_dec | apply expression_dec]. Defined.

Definition phase_dec (a b : phase) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

Definition memory_dec (a b : memory) : {a = b} + {a <> b}.
Proof. apply list_eq_dec. decide equality; [apply data_dec | apply string_dec]. Defined.

Definition state_dec (a b : state) : {a = b} + {a <> b}.
Proof. decide equality; [apply (list_eq_dec data_dec) | apply memory_dec | apply phase_dec]. Defined.

Section Outcomes.
Variable K : algebra.
Notation fraction := (fraction K).
Notation tally := (tally K).
Notation gathered := (gathered K).
Notation unit_weight := (unit_weight K).

(** ** Groups of states by the value of an expression *)

Definition groups := list (data * tally state).

Fixpoint insert (v : data) (s : state) (f : fraction) (gs : groups) : groups :=
  match gs with
  | [] => [(v, [(s, f)])]
  | (w, t) :: rest => if data_dec v w then (w, put state_dec s f t) :: rest else (w, t) :: insert v s f rest
  end.

Definition proper_groups (gs : groups) : Prop := forall v t, In (v, t) gs -> proper_tally t.
Definition within_groups (v : data) (s : state) (gs : groups) : Prop := exists t, In (v, t) gs /\ In s (map fst t).
Definition grouped (p : point) (h : data -> state -> R) (gs : groups) : R := total (fun entry => weighed p (h (fst entry)) (snd entry)) gs.

Lemma insert_right v s f gs : proper K f -> proper_groups gs ->
  proper_groups (insert v s f gs)
  /\ (forall p, inside K p -> forall h, grouped p h (insert v s f gs) = amount K p f * h v s + grouped p h gs)
  /\ (forall v' s', v' = v /\ s' = s \/ within_groups v' s' gs -> within_groups v' s' (insert v s f gs)).
Proof.
  intros Hf. induction gs as [|[w t] gs IH]; intros Pg.
  - split; [|split].
    + intros v' t' [H|[]]. injection H as <- <-. intros s' f' [H|[]]. injection H as <- <-. exact Hf.
    + intros p Hp h. unfold grouped, weighed; simpl. lra.
    + intros v' s' [[-> ->]|[t [[] _]]]. exists [(s, f)]. split; left; reflexivity.
  - assert (Pt : proper_tally t) by (apply (Pg w); left; reflexivity).
    assert (Pg' : proper_groups gs) by (intros v' t' H; apply (Pg v'); right; exact H).
    destruct (IH Pg') as [I1 [I2 I3]]. cbn [insert]. destruct (data_dec v w) as [->|n].
    + destruct (put_right state_dec s f t Hf Pt) as [H1 [H2 H3]]. split; [|split].
      * intros v' t' [H|H]; [injection H as <- <-; exact H1 | apply (Pg' v'); exact H].
      * intros p Hp h. unfold grouped; simpl. rewrite H2 by exact Hp. lra.
      * intros v' s' [[-> ->]|[t' [[H|H] Hs]]].
        -- exists (put state_dec s f t). split; [left; reflexivity | apply H3; left; reflexivity].
        -- injection H as <- <-. exists (put state_dec s f t). split; [left; reflexivity | apply H3; right; exact Hs].
        -- exists t'. split; [right; exact H | exact Hs].
    + split; [|split].
      * intros v' t' [H|H]; [injection H as <- <-; exact Pt | apply (I1 v'); exact H].
      * intros p Hp h. specialize (I2 p Hp h). unfold grouped in *; simpl. rewrite I2. lra.
      * intros v' s' H. assert (G : v' = w /\ In s' (map fst t) \/ (v' = v /\ s' = s \/ within_groups v' s' gs)).
        { destruct H as [H|[t' [[H|H] Hs]]]; [right; left; exact H | left; injection H as <- <-; split; [reflexivity | exact Hs]
            | right; right; exists t'; split; assumption]. }
        destruct G as [[-> G]|G]; [exists t; split; [left; reflexivity | exact G]|].
        destruct (I3 v' s' G) as [t' [H1 H2]]. exists t'. split; [right; exact H1 | exact H2].
Qed.

(** The values of an expression in one state, put to groups. *)
Definition insert_all (s : state) (f : fraction) (values_of : tally data) (gs : groups) : groups :=
  fold_right (fun entry => insert (fst entry) s (times_fractions K f (snd entry))) gs values_of.

Lemma insert_all_right s f vs gs : proper K f -> proper_tally vs -> proper_groups gs ->
  proper_groups (insert_all s f vs gs)
  /\ (forall p, inside K p -> forall h,
        grouped p h (insert_all s f vs gs) = amount K p f * weighed p (fun v => h v s) vs + grouped p h gs)
  /\ (forall v' s', In v' (map fst vs) /\ s' = s \/ within_groups v' s' gs -> within_groups v' s' (insert_all s f vs gs)).
Proof.
  intros Hf Pv Pg. induction vs as [|[v w] vs IH].
  - split; [exact Pg | split].
    + intros p Hp h. unfold weighed; simpl. lra.
    + intros v' s' [[[] _]|H]. exact H.
  - assert (Hw : proper K w) by (apply (Pv v); left; reflexivity).
    destruct IH as [I1 [I2 I3]]; [intros v' f' H; apply (Pv v'); right; exact H|].
    destruct (insert_right v s (times_fractions K f w) _ (times_proper K f w Hf Hw) I1) as [H1 [H2 H3]].
    split; [exact H1 | split].
    + intros p Hp h. simpl. rewrite H2, I2, times_right by assumption. unfold weighed; simpl. lra.
    + intros v' s' [[[<-|H] ->]|H]; apply H3; [left; split; reflexivity | right; apply I3; left; split; [exact H | reflexivity]
        | right; apply I3; right; exact H].
Qed.

(** The states of a tally by the values that an expression has in them. *)
Fixpoint by_value (t : term) (states : tally state) : option groups :=
  match states with
  | [] => Some []
  | (s, f) :: rest => both (insert_all s f) (gathered data_dec (evaluate (values s) t)) (by_value t rest)
  end.

Lemma by_value_right t states gs : proper_tally states -> by_value t states = Some gs ->
  proper_groups gs
  /\ (forall p, inside K p -> forall h,
        grouped p h gs = weighed p (fun s => mean p (fun v => h v s) (evaluate (values s) t)) states)
  /\ (forall s, In s (map fst states) -> forall w v, In (w, v) (evaluate (values s) t) -> within_groups v s gs).
Proof.
  revert gs. induction states as [|[s f] states IH]; simpl; intros gs Ps H.
  - injection H as <-. split; [intros v t' [] | split; [reflexivity | intros s []]].
  - destruct (gathered data_dec (evaluate (values s) t)) as [vs|] eqn:E; [|discriminate].
    destruct (by_value t states) as [rest|]; [|discriminate]. injection H as <-.
    assert (Hf : proper K f) by (apply (Ps s); left; reflexivity).
    destruct (IH rest) as [I1 [I2 I3]]; [intros s' f' H; apply (Ps s'); right; exact H | reflexivity|].
    destruct (gathered_right data_dec _ _ E) as [G1 [G2 G3]].
    destruct (insert_all_right s f vs rest Hf G1 I1) as [H1 [H2 H3]]. split; [exact H1 | split].
    + intros p Hp h. rewrite H2, I2, <- G2 by assumption. unfold weighed; simpl. reflexivity.
    + intros s' [<-|Hs] w v Hv; apply H3; [left; split; [apply (G3 w); exact Hv | reflexivity] | right; apply (I3 s' Hs w); exact Hv].
Qed.

(** Each group led on by itself. *)
Fixpoint lead_groups (next : data -> tally state -> option (tally state)) (gs : groups) : option (tally state) :=
  match gs with
  | [] => Some []
  | (v, t) :: rest => both (joined state_dec) (next v t) (lead_groups next rest)
  end.

Definition after_value (t : term) (next : data -> tally state -> option (tally state)) (states : tally state)
    : option (tally state) :=
  match by_value t states with Some gs => lead_groups next gs | None => None end.

Lemma after_value_right t next k states u : proper_tally states ->
  (forall v r w, proper_tally r -> next v r = Some w -> leads r (k v) w) ->
  after_value t next states = Some u ->
  leads states (fun s => then_do (evaluate (values s) t) (fun v => k v s)) u.
Proof.
  intros Ps Hk H. unfold after_value in H. destruct (by_value t states) as [gs|] eqn:E; [|discriminate].
  destruct (by_value_right t states gs Ps E) as [G1 [G2 G3]].
  assert (L : proper_tally u
    /\ (forall p, inside K p -> forall g, weighed p g u = grouped p (fun v s => mean p g (k v s)) gs)
    /\ (forall v s, within_groups v s gs -> forall w b, In (w, b) (k v s) -> In b (map fst u))).
  { clear E G2 G3. revert u H G1. induction gs as [|[v r] gs IH]; simpl; intros u H G1.
    - injection H as <-. split; [intros b h [] | split; [reflexivity | intros v s [r [[] _]]]].
    - destruct (next v r) as [a|] eqn:N; [|discriminate]. destruct (lead_groups next gs) as [b|]; [|discriminate].
      injection H as <-. assert (Pr : proper_tally r) by (apply (G1 v); left; reflexivity).
      destruct (IH b eq_refl) as [I1 [I2 I3]]; [intros v' r' H; apply (G1 v'); right; exact H|].
      destruct (Hk v r a Pr N) as [A1 [A2 A3]]. destruct (joined_right state_dec a b A1 I1) as [J1 [J2 J3]].
      split; [exact J1 | split].
      + intros p Hp g. rewrite J2, A2, I2 by exact Hp. unfold grouped; simpl. reflexivity.
      + intros v' s [r' [[H|H] Hs]] w c Hc; apply J3.
        * injection H as <- <-. left. apply (A3 s Hs w). exact Hc.
        * right. apply (I3 v' s) with (w := w); [exists r'; split; assumption | exact Hc]. }
  destruct L as [L1 [L2 L3]]. split; [exact L1 | split].
  - intros p Hp g. rewrite L2, G2 by exact Hp. apply weighed_ext. intros s _. symmetry. apply mean_then_do.
  - intros s Hs w b Hb. apply in_then_do in Hb. destruct Hb as [w1 [v [w2 [Hv Hb]]]].
    apply (L3 v s (G3 s Hs w1 v Hv) w2). exact Hb.
Qed.

(** ** Statements *)

Definition stuck_all (t : tally state) : option (tally state) := Some (changed state_dec (fun s => turned s Stuck) t).

Definition goes_on (s : state) : bool := match now s with Going | Skipping => true | _ => false end.
Definition left_loop (s : state) : state := match now s with Leaving => turned s Going | _ => s end.

(** After a round: those that go on are led on, all others leave the loop. *)
Definition next_round (next : tally state -> option (tally state)) (t : tally state) : option (tally state) :=
  let on := filter (fun entry => goes_on (fst entry)) t in
  let off := filter (fun entry => negb (goes_on (fst entry))) t in
  match next (changed state_dec (fun s => turned s Going) on) with
  | Some u => Some (joined state_dec u (changed state_dec left_loop off))
  | None => None
  end.

Lemma next_round_right next k t u : proper_tally t -> (forall r w, proper_tally r -> next r = Some w -> leads r k w) ->
  next_round next t = Some u -> leads t (fun s => after_round s k) u.
Proof.
  intros Pt Hk. unfold next_round. set (on := filter (fun entry => goes_on (fst entry)) t).
  set (off := filter (fun entry => negb (goes_on (fst entry))) t).
  destruct (next (changed state_dec (fun s => turned s Going) on)) as [w|] eqn:E; [|discriminate].
  intros H. injection H as <-. assert (Pon : proper_tally on) by (apply filter_proper; exact Pt).
  assert (Poff : proper_tally off) by (apply filter_proper; exact Pt).
  pose proof (changed_right state_dec (fun s => turned s Going) on Pon) as C.
  apply (leads_parts state_dec goes_on).
  - fold on. apply Hk in E; [|apply C]. pose proof (leads_after on _ _ _ _ C E) as L. revert L. apply leads_ext.
    intros s Hs. apply in_map_iff in Hs. destruct Hs as [[s' f] [Es Hs]]. simpl in Es. subst s'.
    apply filter_In in Hs. destruct Hs as [_ Hs]. simpl in Hs. unfold goes_on in Hs. unfold after_round.
    destruct (now s); try discriminate; reflexivity.
  - fold off. pose proof (changed_right state_dec left_loop off Poff) as L. revert L. apply leads_ext.
    intros s Hs. apply in_map_iff in Hs. destruct Hs as [[s' f] [Es Hs]]. simpl in Es. subst s'.
    apply filter_In in Hs. destruct Hs as [_ Hs]. simpl in Hs. unfold goes_on in Hs. unfold after_round, left_loop.
    destruct (now s); try discriminate; reflexivity.
Qed.

Section Loops.
Variable body : tally state -> option (tally state).

Fixpoint go_rounds (x : string) (l : list data) (t : tally state) : option (tally state) :=
  match l with
  | [] => Some t
  | v :: l =>
      match body (changed state_dec (fun s => assigned s x v) t) with
      | Some u => next_round (go_rounds x l) u
      | None => None
      end
  end.

Fixpoint go_repeated (most : nat) (test : term) (t : tally state) : option (tally state) :=
  match most, t with
  | _, [] => Some []
  | O, _ => stuck_all t
  | S most, _ =>
      after_value test (fun v t =>
        match truth v with
        | Some true => match body t with Some u => next_round (go_repeated most test) u | None => None end
        | Some false => Some t
        | None => stuck_all t
        end) t
  end.

End Loops.

(** Runs that have left are where they are; all others go through the statement together. *)
Fixpoint go (c : statement) (t : tally state) : option (tally state) :=
  let on := filter (fun entry => is_going (fst entry)) t in
  let off := filter (fun entry => negb (is_going (fst entry))) t in
  let led :=
    match c with
    | Then first rest => match go first on with Some u => go rest u | None => None end
    | Branch test yes no =>
        after_value test (fun v t =>
          match truth v with Some true => go yes t | Some false => go no t | None => stuck_all t end) on
    | Each x values_of body =>
        after_value values_of (fun v t =>
          match entries v with Some l => go_rounds (go body) x l t | None => stuck_all t end) on
    | Repeat most test body => go_repeated (go body) most test on
    | _ => spread state_dec (fun s => gathered state_dec (run c s)) on
    end in
  match led with Some u => Some (joined state_dec u off) | None => None end.

Lemma stuck_all_right t u : proper_tally t -> stuck_all t = Some u -> leads t (fun s => always (turned s Stuck)) u.
Proof. intros Pt H. injection H as <-. apply changed_right. exact Pt. Qed.

Lemma go_rounds_right body meant : (forall t u, proper_tally t -> body t = Some u -> leads t meant u) ->
  forall x l t u, proper_tally t -> go_rounds body x l t = Some u -> leads t (rounds meant x l) u.
Proof.
  intros Hb x. induction l as [|v l IH]; intros t u Pt; cbn [go_rounds rounds].
  - intros H. injection H as <-. apply stays. exact Pt.
  - pose proof (changed_right state_dec (fun s => assigned s x v) t Pt) as C.
    destruct (body _) as [w|] eqn:E; [|discriminate]. apply Hb in E; [|apply C]. intros H.
    pose proof (leads_after t _ _ _ _ C E) as L. apply (leads_then t w u (fun s => meant (assigned s x v))); [exact L|].
    apply (next_round_right (go_rounds body x l)); [apply L | exact IH | exact H].
Qed.

Lemma go_repeated_right body meant : (forall t u, proper_tally t -> body t = Some u -> leads t meant u) ->
  forall most test t u, proper_tally t -> go_repeated body most test t = Some u -> leads t (repeated meant most test) u.
Proof.
  intros Hb. induction most as [|most IH]; intros test [|e t] u Pt.
  - cbn. intros H. injection H as <-. apply leads_nothing.
  - apply stuck_all_right. exact Pt.
  - cbn. intros H. injection H as <-. apply leads_nothing.
  - cbn [go_repeated repeated]. apply (after_value_right test _ (fun v s =>
      match truth v with
      | Some true => then_do (meant s) (fun s => after_round s (repeated meant most test))
      | Some false => always s
      | None => always (turned s Stuck)
      end) (e :: t) u Pt).
    intros v r w Pr. destruct (truth v) as [[|]|].
    + destruct (body r) as [a|] eqn:E; [|discriminate]. apply Hb in E; [|exact Pr]. intros H.
      apply (leads_then r a w meant); [exact E|].
      apply (next_round_right (go_repeated body most test)); [apply E | intros r' w'; apply IH | exact H].
    + intros H. injection H as <-. apply stays. exact Pr.
    + apply stuck_all_right. exact Pr.
Qed.

Lemma going_states {A : Type} (t : tally state) (k l : state -> A) : (forall s, is_going s = true -> k s = l s) ->
  forall s, In s (map fst (filter (fun entry => is_going (fst entry)) t)) -> k s = l s.
Proof.
  intros H s Hs. apply in_map_iff in Hs. destruct Hs as [[s' f] [Es Hs]]. simpl in Es. subst s'.
  apply filter_In in Hs. apply H. apply Hs.
Qed.

Theorem go_right c : forall t u, proper_tally t -> go c t = Some u -> leads t (run c) u.
Proof.
  induction c as [|first IH1 rest IH2|x e|x k e|test yes IH1 no IH2|x e body IH|most test body IH|e| | |];
    intros t u Pt; cbn [go];
    set (on := filter (fun entry => is_going (fst entry)) t);
    set (off := filter (fun entry => negb (is_going (fst entry))) t);
    assert (Pon : proper_tally on) by (apply filter_proper; exact Pt);
    assert (Poff : proper_tally off) by (apply filter_proper; exact Pt);
    intros H;
    match type of H with match ?led with Some _ => _ | None => _ end = _ => destruct led as [w|] eqn:E; [|discriminate] end;
    injection H as <-; apply (leads_parts state_dec is_going); fold on; fold off;
    try (apply (leads_ext off always); [|apply stays; exact Poff];
         intros s Hs; apply in_map_iff in Hs; destruct Hs as [[s' f] [Es Hs]]; simpl in Es; subst s';
         apply filter_In in Hs; destruct Hs as [_ Hs]; simpl in Hs; cbn [run]; destruct (is_going s); [discriminate | reflexivity]);
    try (eapply (spread_right state_dec); [|exact Pon | exact E]; intros s v; apply gathered_right).
  - destruct (go first on) as [a|] eqn:F; [|discriminate]. apply IH1 in F; [|exact Pon].
    apply IH2 in E; [|apply F]. pose proof (leads_then _ _ _ _ _ F E) as L. revert L. apply leads_ext.
    apply (going_states t). intros s G. cbn [run]. rewrite G. reflexivity.
  - apply (leads_ext on (fun s => then_do (evaluate (values s) test) (fun v =>
      match truth v with Some true => run yes s | Some false => run no s | None => always (turned s Stuck) end))).
    + apply (going_states t). intros s G. cbn [run]. rewrite G. reflexivity.
    + revert E. apply (after_value_right test _ (fun v s =>
        match truth v with Some true => run yes s | Some false => run no s | None => always (turned s Stuck) end) on w Pon).
      intros v r a Pr. destruct (truth v) as [[|]|]; [apply IH1 | apply IH2 | apply stuck_all_right]; exact Pr.
  - apply (leads_ext on (fun s => then_do (evaluate (values s) e) (fun v =>
      match entries v with Some l => rounds (run body) x l s | None => always (turned s Stuck) end))).
    + apply (going_states t). intros s G. cbn [run]. rewrite G. reflexivity.
    + revert E. apply (after_value_right e _ (fun v s =>
        match entries v with Some l => rounds (run body) x l s | None => always (turned s Stuck) end) on w Pon).
      intros v r a Pr. destruct (entries v) as [l|]; [|apply stuck_all_right; exact Pr].
      apply (go_rounds_right (go body) (run body) IH). exact Pr.
  - apply (leads_ext on (repeated (run body) most test)).
    + apply (going_states t). intros s G. cbn [run]. rewrite G. reflexivity.
    + apply (go_repeated_right (go body) (run body) IH); [exact Pon | exact E].
Qed.

(** ** Outputs *)

Definition is_stuck (s : state) : bool := match now s with Stuck => true | _ => false end.

(** The outputs of a program; nothing where a run may meet an error. *)
Definition outcomes (program : statement) (m : memory) : option (table K) :=
  match go program [(started m, unit_weight)] with
  | Some t =>
      if existsb (fun entry => is_stuck (fst entry)) t then None
      else Some (fold_right (fun entry => add_entry K (seen (fst entry)) (snd entry)) [] t)
  | None => None
  end.

Lemma outputs_added t : proper_tally t ->
  let u := fold_right (fun entry => add_entry K (seen (fst entry)) (snd entry)) [] t in
  proper_table K u
  /\ forall p, inside K p -> forall y,
       amount_of K p u y = weighed p (fun s => if same y (seen s) then 1 else 0) t.
Proof.
  induction t as [|[s f] t IH]; intros Pt; simpl.
  - split; [intros y f []|]. reflexivity.
  - assert (Hf : proper K f) by (apply (Pt s); left; reflexivity).
    destruct IH as [I1 I2]; [intros s' f' H; apply (Pt s'); right; exact H|].
    destruct (add_entry_right K (seen s) f _ Hf I1) as [H1 H2]. split; [exact H1|].
    intros p Hp y. rewrite H2, I2 by assumption. unfold weighed; simpl. destruct (same y (seen s)); lra.
Qed.

Theorem outcomes_right program m t : outcomes program m = Some t ->
  never_stuck program m /\ proper_table K t
  /\ forall p, inside K p -> forall y, probability p (outputs_of program m) (same y) = amount_of K p t y.
Proof.
  unfold outcomes. destruct (go program [(started m, unit_weight)]) as [u|] eqn:E; [|discriminate].
  destruct (existsb _ u) eqn:N; [discriminate|]. intros H. injection H as <-.
  assert (P0 : proper_tally [(started m, unit_weight)]).
  { intros s f [H|[]]. injection H as <- <-. apply of_poly_proper. }
  destruct (go_right program _ _ P0 E) as [Pu [Vu Iu]]. destruct (outputs_added u Pu) as [P V].
  split; [|split; [exact P|]].
  - intros w s Hin Hs. apply Iu in Hin; [|left; reflexivity]. apply in_map_iff in Hin. destruct Hin as [[s' f] [Es Hin]]. simpl in Es. subst s'.
    assert (existsb (fun entry => is_stuck (fst entry)) u = true); [|congruence].
    apply existsb_exists. exists (s, f). split; [exact Hin|]. unfold is_stuck; simpl. rewrite Hs. reflexivity.
  - intros p Hp y. rewrite V, Vu by exact Hp. unfold weighed at 1; simpl. rewrite unit_weight_right. unfold outputs_of, probability. rewrite probability_then_do.
    unfold mean. rewrite Rplus_0_r, Rmult_1_l. apply total_ext. intros [w s] _. simpl. destruct (same y (seen s)); simpl; ring.
Qed.

End Outcomes.
