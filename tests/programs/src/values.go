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

type pair struct {
	low  int32
	high float64
	name string
}

// Registers of integers: two 3, none for real, behind 1, last 1, bytes 3; beyond is on the stack.
//
//go:noinline
func spread(two pair, real float64, behind *pair, last int8, bytes []byte, beyond string) (result int) {
	return int(two.low) + int(real) + int(behind.low) + int(last) + len(bytes) + len(beyond)
}

func main() {
	sum := 0
	for i := 1; i <= 3; i++ {
		sum += take(-i, fmt.Sprintf("query %d", i), []byte{1, 2, 3}, 'a')
		sum += spread(pair{1, 2, "three"}, 4, &pair{5, 0, "five"}, 6, []byte{7}, "beyond")
		sum += int(C.c_take(C.long(100+i), 77))
	}
	fmt.Println(sum)
}
