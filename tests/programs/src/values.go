// SPDX-License-Identifier: BSD-2-Clause
// Calls of Go's and of C's functions with values that are easy to tell.
package main

// static long __attribute__((noinline)) c_take(long a, long b) { __asm__ volatile(""); return a + b; }
import "C"
import "fmt"

//go:noinline
func take(n int, text string, bytes []byte, letter byte) int {
	return n + len(text) + len(bytes) + int(letter)
}

func main() {
	sum := 0
	for i := 1; i <= 3; i++ {
		sum += take(-i, fmt.Sprintf("query %d", i), []byte{1, 2, 3}, 'a')
		sum += int(C.c_take(C.long(100+i), 77))
	}
	fmt.Println(sum)
}
