(* Logarithms and exponentials between whole numbers, times 2^192: the steps, and so the numbers, are those of
   paramverify/kernel/rounded_constants.py. The proved checker shows the bounds of logarithms again before it uses them. *)

open Faults

let bits = 192
let unit = Z.shift_left Z.one bits
let halvings = 6
let most = Z.mul (Z.of_int 10_000) unit

let down q = Z.fdiv (Z.shift_left (Q.num q) bits) (Q.den q)
let up q = Z.cdiv (Z.shift_left (Q.num q) bits) (Q.den q)
let times_down factor z = Z.fdiv (Z.mul (Q.num factor) z) (Q.den factor)
let times_up factor z = Z.cdiv (Z.mul (Q.num factor) z) (Q.den factor)
let product_down x y = Z.shift_right (Z.mul x y) bits
let product_up x y = Z.neg (Z.shift_right (Z.neg (Z.mul x y)) bits)
let at_unit z = Q.make z unit

(* Bounds of the sum of z^(2j+1)/(2j+1) for z between 0 and 1/3. *)
let artanh z =
  let below = down z and above = up z in
  let below2 = product_down below below and above2 = product_up above above in
  let rec sum low high below above j =
    if Z.sign below = 0 then (low, Z.add high (Z.mul (Z.of_int 2) above))
    else
      let odd = Z.of_int ((2 * j) + 1) in
      sum (Z.add low (Z.fdiv below odd)) (Z.add high (Z.cdiv above odd)) (product_down below below2) (product_up above above2) (j + 1)
  in
  sum Z.zero Z.zero below above 0

let double (low, high) = (Z.mul (Z.of_int 2) low, Z.mul (Z.of_int 2) high)
let ln2 = double (artanh (Q.of_ints 1 3))
let known : (string, Z.t * Z.t) Hashtbl.t = Hashtbl.create 256

let ln_of value =
  let k = Z.numbits (Q.num value) - Z.numbits (Q.den value) in
  let m = if k >= 0 then Q.div_2exp value k else Q.mul_2exp value (-k) in
  let times n q = Q.mul (Q.of_int n) q in
  let rec above m k = if Q.gt (times 3 m) (Q.of_int 4) then above (Q.div_2exp m 1) (k + 1) else (m, k) in
  let rec below m k = if Q.leq (times 3 m) (Q.of_int 2) then below (Q.mul_2exp m 1) (k - 1) else (m, k) in
  let m, k = above m k in
  let m, k = below m k in
  let low, high = double (artanh (Q.div (Q.abs (Q.sub m Q.one)) (Q.add m Q.one))) in
  let low, high = if Q.geq m Q.one then (low, high) else (Z.neg high, Z.neg low) in
  let one = Z.mul (Z.of_int k) (fst ln2) and other = Z.mul (Z.of_int k) (snd ln2) in
  (Z.add low (Z.min one other), Z.add high (Z.max one other))

let ln value =
  if Q.sign value <= 0 then rejected "the logarithm of a number that is not positive";
  let key = Q.to_string value in
  match Hashtbl.find_opt known key with
  | Some ends -> ends
  | None ->
      let ends = ln_of value in
      Hashtbl.add known key ends;
      ends

let shifted value k upwards =
  if k >= 0 then Z.shift_left value k
  else if upwards then Z.neg (Z.shift_right (Z.neg value) (-k))
  else Z.shift_right value (-k)

(* A lower or an upper bound of exp(at/2^192). *)
let exp at upwards =
  if Z.lt at (Z.neg most) then if upwards then Z.one else Z.zero
  else begin
    if Z.gt at most then rejected "an exponent is too large";
    let low, high = ln2 in
    let k = Z.to_int (Z.fdiv at (if Z.sign at >= 0 then high else low)) in
    let t = Z.sub at (Z.mul (Z.of_int k) (if (k >= 0) <> upwards then high else low)) in
    let s = if upwards then Z.neg (Z.shift_right (Z.neg t) halvings) else Z.shift_right t halvings in
    let product = if upwards then product_up else product_down and quotient = if upwards then Z.cdiv else Z.fdiv in
    let least = if upwards then Z.one else Z.zero in
    let rec sum total term j =
      if Z.gt term least then sum (Z.add total term) (quotient (product term s) (Z.of_int (j + 1))) (j + 1)
      else if upwards then Z.add total (Z.mul (Z.of_int 2) term)
      else total
    in
    let rec squared value times = if times = 0 then value else squared (product value value) (times - 1) in
    shifted (squared (sum Z.zero unit 0) halvings) k upwards
  end
