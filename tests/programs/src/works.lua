-- SPDX-License-Identifier: BSD-2-Clause
-- What a compiler makes code of: loops, recursion, calls of C functions, errors.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(25))
local t = {}
for i = 1, 300000 do t[i % 1000] = (t[i % 1000] or 0) + i * 3 end
local s = 0
for i = 0, 999 do s = (s + t[i]) % 1000003 end
print(s)
local ffi = require("ffi")
ffi.cdef "int abs(int);"
local x = 0
for i = 1, 100000 do x = x + ffi.C.abs(-i) % 3 end
print(x)
print(pcall(function() error("e") end))
print(("hello world"):gsub("o", "0"))
