// SPDX-License-Identifier: BSD-2-Clause
// Goroutines that compute what is known, on stacks that grow, and are preempted by signals; until the input
// ends. Then it says how often each did, or what was wrong.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
)

//go:noinline
func sum(n int) int {
	var pad [32]int
	pad[n%32] = n
	if n == 0 {
		return 0
	}
	return sum(n-1) + pad[n%32]
}

var rounds, wrong [4]atomic.Int64

func turn(nth int) {
	for {
		for i := 0; i < 100; i += 10 {
			if sum(i) != i*(i+1)/2 {
				wrong[nth].Add(1)
			}
		}
		garbage := make([]byte, 1000+nth)
		garbage[nth] = 1
		rounds[nth].Add(1)
		runtime.Gosched()
	}
}

func main() {
	for nth := range rounds {
		go turn(nth)
	}
	fmt.Println("ready")
	io.ReadAll(os.Stdin)
	for nth := range rounds {
		if rounds[nth].Load() == 0 || wrong[nth].Load() != 0 {
			fmt.Println("goroutine", nth, "computed", rounds[nth].Load(), "wrong", wrong[nth].Load())
			os.Exit(1)
		}
	}
	fmt.Println("right")
}
