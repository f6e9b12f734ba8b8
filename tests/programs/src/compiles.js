// SPDX-License-Identifier: BSD-2-Clause
// Waits for a line, then makes functions, one after the other, which the compiler makes machine code of. Ends as quickly as can be.
const fs = require("fs");
function compile(k) {
  const sum = new Function("n", `let sum = 0; for (let i = 0; i < n; i++) sum = (sum * ${k} + i) | 0; return sum`);
  for (let i = 0; i < 17; i++) sum(5);
}
compile(0);
console.log("ready");
fs.readSync(0, Buffer.alloc(1));
for (let k = 1; k <= 3; k++) compile(k);
process.kill(process.pid, "SIGKILL");
