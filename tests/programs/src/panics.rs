// SPDX-License-Identifier: BSD-2-Clause
// Panics that are caught at some levels of a recursion, with clean-ups on the way.
use std::panic;
struct Guard(u32);
impl Drop for Guard { #[inline(never)] fn drop(&mut self) { unsafe { std::ptr::read_volatile(&self.0) }; } }
#[inline(never)]
fn deep(n: u32) -> u32 {
    let g = Guard(n);
    if n == 0 { panic!("no more"); }
    let r = if n % 3 == 0 {
        match panic::catch_unwind(|| deep(n - 1)) { Ok(v) => v, Err(_) => { if n == 6 { 100 } else { panic!("again") } } }
    } else { deep(n - 1) + 1 };
    r + g.0
}
fn main() {
    panic::set_hook(Box::new(|_| {}));
    println!("{}", deep(8));
    let r = panic::catch_unwind(|| deep(2));
    println!("{}", r.is_err());
}
