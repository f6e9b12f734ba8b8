// SPDX-License-Identifier: BSD-2-Clause
// Goroutines that take turns, a panic that is recovered from, and a stack that must grow.
package main

import (
	"bytes"
	"fmt"
	"runtime"
)

//go:noinline
func square(n int) int { return n * n }

//go:noinline
func deep(n int) int {
	var pad [64]int
	pad[n%64] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + pad[n%64]
}

//go:noinline
func careful(n int) (r int) {
	defer func() {
		if recover() != nil {
			r = -1
		}
	}()
	if n == 3 {
		panic("three")
	}
	return square(n)
}

// "goroutine 18 [running]: ..."
func number() string {
	var text [64]byte
	return string(bytes.Fields(text[:runtime.Stack(text[:], false)])[1])
}

func worker(in, out chan int) {
	fmt.Println("goroutine", number())
	for n := range in {
		out <- careful(n)
	}
	close(out)
}

func main() {
	in, out := make(chan int), make(chan int)
	go worker(in, out)
	go func() {
		for i := 0; i < 5; i++ {
			in <- i
		}
		close(in)
	}()
	sum := 0
	for v := range out {
		sum += v
	}
	fmt.Println(sum, deep(100))
}
