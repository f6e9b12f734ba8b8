// SPDX-License-Identifier: BSD-2-Clause
// Functions that the compiler makes machine code of, for some seconds.
function square(n) { return n < 2 ? 1 : n * n + (n & 3 ? 1 : square(n >> 2)); }
function sumSquares(n) { let sum = 0; for (let i = 0; i < n; i++) sum += square(i); return sum; }
function run(seconds) {
  let total = 0;
  const end = Date.now() + 1000 * seconds;
  while (Date.now() < end) for (let i = 0; i < 300; i++) total += sumSquares(30);
  return total;
}
// Until the code does not change any more.
run(1);
run(1);
console.log("warm");
run(Number(process.argv[2]));
