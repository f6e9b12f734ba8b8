// SPDX-License-Identifier: BSD-2-Clause
// Calls with values that are easy to tell.
#[inline(never)]
#[no_mangle]
pub fn take(n: i32, text: &str, words: &[u16], last: u8) -> usize {
    let sum: usize = text.bytes().map(|byte| byte as usize).sum();

    sum + words[1] as usize + n as usize + last as usize
}

fn main() {
    let args = std::env::args().count() as u8;

    for i in 1..4 {
        println!("{}", take(4 - i, &format!("query {}", i), &[7, 8], 199 + args));
    }
}
