"""What every generated Coq file starts with: definitions of functions, and lemmas with proofs.

Only Coq's reals and coq-interval are used. ``sigmoid``, ``softplus`` and ``sech`` are defined here;
``tanh``, ``sinh``, ``cosh``, ``exp``, ``ln`` are Coq's own. A ``small`` lemma bounds a quantity by exp(-v);
``small_power`` says that y^k exp(-a y) falls from y >= k/a on. ``defined``: sigmoid, softplus, sech and
tanh never divide by 0, and take logarithms of positive numbers only.
"""

PREAMBLE = r"""From Coq Require Import Reals Lra Lia.
From Interval Require Import Tactic.
Open Scope R_scope.

Definition sigmoid (u : R) : R := 1 / (1 + exp (- u)).
Definition softplus (u : R) : R := ln (1 + exp u).
Definition sech (u : R) : R := 1 / cosh u.

Lemma sum_pos (u : R) : 0 < 1 + exp u.
Proof. pose proof (exp_pos u); lra. Qed.

Lemma defined (u : R) : 1 + exp (- u) <> 0 /\ 0 < 1 + exp u /\ cosh u <> 0.
Proof.
  unfold cosh. pose proof (exp_pos u). pose proof (exp_pos (- u)).
  repeat split; try apply Rgt_not_eq; lra.
Qed.

Lemma tanh_exp (u : R) : tanh u = 1 - 2 / (1 + exp (2 * u)).
Proof.
  unfold tanh, sinh, cosh. replace (2 * u) with (u + u) by ring.
  rewrite exp_plus, exp_Ropp. pose proof (exp_pos u). field. split; nra.
Qed.

Lemma sech_exp (u : R) : sech u = 2 * exp (- u) / (1 + exp (- (2 * u))).
Proof.
  unfold sech, cosh. replace (- (2 * u)) with (- u + - u) by ring.
  rewrite exp_plus, exp_Ropp. pose proof (exp_pos u). field.
  repeat split; nra.
Qed.

Lemma sigmoid_up (u v : R) : u = v -> sigmoid u = 1 - sigmoid (- v).
Proof.
  intros ->. unfold sigmoid. rewrite Ropp_involutive, exp_Ropp.
  pose proof (exp_pos v). field. split; lra.
Qed.

Lemma sigmoid_down (u v : R) : u = - v -> sigmoid u = sigmoid (- v).
Proof. intros ->. reflexivity. Qed.

Lemma softplus_up (u v : R) : u = v -> softplus u = v + softplus (- v).
Proof.
  intros ->. unfold softplus.
  replace (1 + exp v) with (exp v * (1 + exp (- v))).
  - rewrite ln_mult, ln_exp; [ reflexivity | apply exp_pos | apply sum_pos ].
  - rewrite exp_Ropp. pose proof (exp_pos v). field. lra.
Qed.

Lemma softplus_down (u v : R) : u = - v -> softplus u = softplus (- v).
Proof. intros ->. reflexivity. Qed.

Lemma tanh_up (u v : R) : 2 * u = v -> tanh u = 1 - 2 * sigmoid (- v).
Proof.
  intros <-. rewrite tanh_exp. unfold sigmoid. rewrite Ropp_involutive.
  pose proof (sum_pos (2 * u)). field. lra.
Qed.

Lemma tanh_down (u v : R) : 2 * u = - v -> tanh u = 2 * sigmoid (- v) - 1.
Proof.
  intros H. rewrite (tanh_up u (- v) H), (sigmoid_up (- - v) v) by ring. ring.
Qed.

Lemma sech_up (u v : R) : u = v -> sech u = 2 * (sech v / 2).
Proof. intros ->. field. Qed.

Lemma sech_down (u v : R) : u = - v -> sech u = 2 * (sech v / 2).
Proof.
  intros ->. unfold sech, cosh. rewrite Ropp_involutive.
  pose proof (exp_pos v). pose proof (exp_pos (- v)). field. lra.
Qed.

Lemma exp_down (u v : R) : u = - v -> exp u = exp (- v).
Proof. intros ->. reflexivity. Qed.

Lemma sigmoid_small (v : R) : 0 < sigmoid (- v) <= exp (- v).
Proof.
  unfold sigmoid. rewrite Ropp_involutive, exp_Ropp. pose proof (exp_pos v) as P. split.
  - apply Rdiv_lt_0_compat; lra.
  - unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra.
Qed.

Lemma softplus_small (v : R) : 0 < softplus (- v) <= exp (- v).
Proof.
  unfold softplus. pose proof (exp_pos (- v)) as P. split.
  - rewrite <- ln_1. apply ln_increasing; lra.
  - rewrite <- (ln_exp (exp (- v))) at 2. apply Rlt_le, ln_increasing; [ lra | ].
    apply exp_ineq1. lra.
Qed.

Lemma sech_small (v : R) : 0 < sech v / 2 <= exp (- v).
Proof.
  rewrite sech_exp. pose proof (exp_pos (- v)) as P. pose proof (exp_pos (- (2 * v))) as Q. split.
  - repeat apply Rdiv_lt_0_compat; lra.
  - apply (Rmult_le_reg_r (1 + exp (- (2 * v)))); [ lra | ]. field_simplify; nra.
Qed.

Lemma exp_small (v : R) : 0 < exp (- v) <= exp (- v).
Proof. pose proof (exp_pos (- v)). lra. Qed.

Lemma max_abs (a b : R) : Rmax a b = (a + b + Rabs (a - b)) / 2.
Proof. unfold Rmax, Rabs. destruct (Rle_dec a b), (Rcase_abs (a - b)); lra. Qed.

Lemma min_abs (a b : R) : Rmin a b = (a + b - Rabs (a - b)) / 2.
Proof. unfold Rmin, Rabs. destruct (Rle_dec a b), (Rcase_abs (a - b)); lra. Qed.

Lemma max_up (a b y q : R) : 0 < y -> 0 <= q -> a - b = y * q -> Rmax a b = a.
Proof. intros P Q E. apply Rmax_left. nra. Qed.

Lemma max_down (a b y q : R) : 0 < y -> 0 <= q -> a - b = - (y * q) -> Rmax a b = b.
Proof. intros P Q E. apply Rmax_right. nra. Qed.

Lemma min_up (a b y q : R) : 0 < y -> 0 <= q -> a - b = y * q -> Rmin a b = b.
Proof. intros P Q E. apply Rmin_right. nra. Qed.

Lemma min_down (a b y q : R) : 0 < y -> 0 <= q -> a - b = - (y * q) -> Rmin a b = a.
Proof. intros P Q E. apply Rmin_left. nra. Qed.

Lemma abs_up (u y q : R) : 0 < y -> 0 <= q -> u = y * q -> Rabs u = u.
Proof. intros P Q ->. apply Rabs_right. nra. Qed.

Lemma abs_down (u y q : R) : 0 < y -> 0 <= q -> u = - (y * q) -> Rabs u = - u.
Proof. intros P Q ->. apply Rabs_left1. nra. Qed.

Lemma exp_le (u v : R) : u <= v -> exp u <= exp v.
Proof. intros [H | ->]; [ left; apply exp_increasing; exact H | right; reflexivity ]. Qed.

Lemma small_rate (a q y v s : R) :
  0 < y -> a <= q -> v = y * q -> 0 < s <= exp (- v) -> 0 < s <= exp (- (a * y)).
Proof.
  intros P A -> [L U]. split; [ exact L | ].
  apply Rle_trans with (1 := U), exp_le. nra.
Qed.

Lemma small_product (a b y s t : R) :
  0 < s <= exp (- (a * y)) -> 0 < t <= exp (- (b * y)) -> 0 < s * t <= exp (- ((a + b) * y)).
Proof.
  intros [] []. split; [ apply Rmult_lt_0_compat; assumption | ].
  replace (- ((a + b) * y)) with (- (a * y) + - (b * y)) by ring.
  rewrite exp_plus. apply Rmult_le_compat; lra.
Qed.

Lemma exp_times (n : nat) (u : R) : exp (INR n * u) = exp u ^ n.
Proof.
  induction n as [ | n IH ].
  - simpl. rewrite Rmult_0_l. apply exp_0.
  - rewrite S_INR. replace ((INR n + 1) * u) with (u + INR n * u) by ring.
    rewrite exp_plus, IH. reflexivity.
Qed.

Lemma small_power (k : nat) (a m y s : R) :
  0 < m <= y -> INR k <= a * m -> 0 < s <= exp (- (a * y)) ->
  0 < y ^ k * s <= m ^ k * exp (- (a * m)).
Proof.
  intros [P Y] K [L U]. assert (0 < y ^ k) by (apply pow_lt; lra).
  split; [ apply Rmult_lt_0_compat; assumption | ].
  apply Rle_trans with (y ^ k * exp (- (a * y))); [ apply Rmult_le_compat_l; lra | ].
  assert (B : y ^ k <= m ^ k * exp (a * (y - m))).
  { apply Rle_trans with (m ^ k * exp (INR k * (y / m - 1))).
    - rewrite exp_times, <- Rpow_mult_distr. apply pow_incr. split; [ lra | ].
      apply Rle_trans with (m * (1 + (y / m - 1))); [ right; field; lra | ].
      apply Rmult_le_compat_l; [ lra | apply exp_ineq1_le ].
    - apply Rmult_le_compat_l; [ apply pow_le; lra | apply exp_le ].
      replace (a * (y - m)) with (a * m * (y / m - 1)) by (field; lra).
      apply Rmult_le_compat_r; [ | exact K ].
      assert (1 <= y / m) by (apply (Rmult_le_reg_r m); [ lra | ]; field_simplify; lra). lra. }
  apply Rle_trans with (m ^ k * exp (a * (y - m)) * exp (- (a * y))).
  - apply Rmult_le_compat_r; [ apply Rlt_le, exp_pos | exact B ].
  - right. rewrite Rmult_assoc, <- exp_plus. do 2 f_equal. ring.
Qed.

Lemma sigmoid_t (u : R) : sigmoid u = exp u / (1 + exp u).
Proof. unfold sigmoid. rewrite exp_Ropp. pose proof (exp_pos u). field. lra. Qed.

Lemma tanh_t (u : R) : tanh u = (exp u ^ 2 - 1) / (exp u ^ 2 + 1).
Proof. unfold tanh, sinh, cosh. rewrite exp_Ropp. pose proof (exp_pos u). field. split; nra. Qed.

Lemma sech_t (u : R) : sech u = 2 * exp u / (exp u ^ 2 + 1).
Proof. unfold sech, cosh. rewrite exp_Ropp. pose proof (exp_pos u). field. split; nra. Qed.

Lemma cosh_t (u : R) : cosh u = (exp u + / exp u) / 2.
Proof. unfold cosh. rewrite exp_Ropp. reflexivity. Qed.

Lemma sinh_t (u : R) : sinh u = (exp u - / exp u) / 2.
Proof. unfold sinh. rewrite exp_Ropp. reflexivity. Qed.

Lemma exp_t_up (n : nat) (u w : R) : u = INR n * w -> exp u = exp w ^ n.
Proof. intros ->. apply exp_times. Qed.

Lemma exp_t_down (n : nat) (u w : R) : u = - (INR n * w) -> exp u = / exp w ^ n.
Proof. intros ->. rewrite exp_Ropp, exp_times. reflexivity. Qed.

Ltac side := repeat split; apply Rgt_not_eq; first [ lra | nra | interval ].
Ltac bound := first [ lra | interval with (i_prec 80) ].
Ltac positive :=
  repeat first [ assumption | apply pow_lt | apply Rplus_lt_0_compat | apply Rmult_lt_0_compat | lra ].
Ltac nonnegative :=
  repeat first [ apply pow2_ge_0 | apply Rmult_le_pos | lra | apply Rlt_le; positive; fail ].
Ltac nonzero := repeat split; apply Rgt_not_eq; unfold Rgt; first [ positive; fail | nra ].
"""
