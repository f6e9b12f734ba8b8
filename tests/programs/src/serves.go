// SPDX-License-Identifier: BSD-2-Clause

// A server and its clients in one process.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
)

func serve(w http.ResponseWriter, r *http.Request) {
	words := strings.Fields(r.URL.Query().Get("q"))
	sort.Strings(words)
	fmt.Fprint(w, strings.Join(words, " "))
}

func get(url string) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("panic: ", r)
		}
	}()
	response, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(serve))
	results := make([]string, 40)
	var group sync.WaitGroup
	for i := range results {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			results[i] = get(fmt.Sprintf("%s/?q=c%d+b+a", server.URL, i))
		}(i)
	}
	group.Wait()
	server.Close()
	fmt.Println(strings.Join(results, "\n"))
}
