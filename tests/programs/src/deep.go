// Goroutines whose stacks grow, and so move, while calls are in progress, and which change threads.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

//go:noinline
func deep(n int) int {
	var frame [256]byte
	if n == 0 {
		runtime.Gosched()
		return 1
	}
	frame[n%256] = byte(n)
	return deep(n-1) + int(frame[(n+1)%256])
}

//go:noinline
func outer(n int, slow bool) int {
	if slow {
		time.Sleep(30 * time.Millisecond)
	}
	return deep(n) + n
}

func main() {
	var group sync.WaitGroup
	var lock sync.Mutex
	sum := 0
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			value := outer(i*20, i == 13)
			lock.Lock()
			sum += value
			lock.Unlock()
		}(i)
	}
	group.Wait()
	fmt.Println("sum", sum)
}
