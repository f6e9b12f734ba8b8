// SPDX-License-Identifier: BSD-2-Clause
// What a compiler makes code of, one after the other: loops, recursion, expressions, exceptions, a worker, WebAssembly.
const crypto = require("crypto"), zlib = require("zlib");
const { Worker, isMainThread, parentPort } = require("worker_threads");

const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));

// (module (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))
const module_bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100,
  0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);

async function main() {
  let sum = 0;
  for (let i = 0; i < 1e6; i++) sum = (sum * 31 + (i % 7)) | 0;
  console.log(fib(24), sum);
  const counts = {};
  for (let i = 0; i < 20000; i++) counts["k" + (i % 997)] = (counts["k" + (i % 997)] || 0) + i;
  console.log(crypto.createHash("sha256").update(JSON.stringify(counts)).digest("hex"));
  console.log(zlib.gunzipSync(zlib.gzipSync(Buffer.from("x".repeat(100000)))).length);
  console.log("aXbXc".replace(/x/gi, "-"), /(\d+)-(\d+)/.exec("foo 12-34").slice(1).join());
  try {
    (function deep() { deep(); })();
  } catch (e) {
    console.log(e instanceof RangeError);
  }
  console.log("worker", await new Promise((done) => new Worker(__filename).on("message", done)));
  console.log("timer", await new Promise((done) => setTimeout(done, 20, 7)));
  const { add } = (await WebAssembly.instantiate(module_bytes)).instance.exports;
  for (let i = 0, total = 0; i <= 10000; i++) {
    total = add(total, i);
    if (i === 10000) console.log("wasm", total);
  }
}

if (isMainThread) main();
else parentPort.postMessage(fib(20));
