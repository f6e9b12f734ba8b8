(* SPDX-License-Identifier: BSD-2-Clause *)
(* Exceptions: with and without a backtrace, through recursions, inside a function that handles them itself, from C to OCaml. *)
exception Found of int

let rec deep n = if n = 0 then raise_notrace (Found 3) else 1 + deep (n - 1)
let rec deep_traced n = if n = 0 then raise (Found 4) else 1 + deep_traced (n - 1)
let handled n = try deep n with Found k -> k + 100

(* Handles in every call, but only what was raised for it. *)
let rec nest n =
  if n = 0 then deep_traced 3
  else if n mod 2 = 0 then try nest (n - 1) with Not_found -> 7
  else try 1 + nest (n - 1) with Found k when k = n -> 5

(* The handler is in the same function as the raise, called further out. *)
let rec own n limit = try if n = limit then raise_notrace Exit else own (n + 1) limit with Exit when n = 2 -> n

let from_c () = try int_of_string "none" with Failure _ -> 11
let inside f = try List.iter f [ 1; 2; 3 ] with Found k -> ignore k

let () =
  Printexc.record_backtrace (Array.length Sys.argv > 1);
  let nested = try nest 6 with Found k -> k in
  let found = try List.assoc 3 [] with Not_found -> 9 in
  inside (fun n -> if n = 2 then raise (Found n));
  Printf.printf "%d %d %d %d %d\n" (handled 5) nested found (own 0 5) (from_c ())
