package record

import (
	"context"
	"fmt"
	"testing"

	"parley/appliance/contract"
)

// BenchmarkListeners measures the cost of listeners for each message of a chat.
func BenchmarkListeners(b *testing.B) {
	for _, n := range []int{0, 1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var a audience
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			for range n {
				l, err := a.listen(true)
				if err != nil {
					b.Fatal(err)
				}
				go func() {
					for {
						if _, err := l.Next(ctx); err != nil {
							return
						}
					}
				}()
			}
			m := contract.UserMessage{Message: contract.ChatMessage{Content: "Hello."}}
			for b.Loop() {
				a.message(m)
			}
		})
	}
}
