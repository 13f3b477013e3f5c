package unbounded

import (
	"sync"
	"testing"
)

// Values of parallel producers arrive complete and in order, and an empty queue holds no
// memory.
func TestValuesArriveInOrder(t *testing.T) {
	const putters, each = 4, 1000
	q := NewQueue[[2]int]()
	var all sync.WaitGroup
	for who := range putters {
		all.Go(func() {
			for n := range each {
				q.Put([2]int{who, n})
			}
		})
	}
	var next [putters]int
	for got := 0; got < putters*each; {
		v, ok := q.Take()
		if !ok {
			<-q.More()
			continue
		}
		if v[1] != next[v[0]] {
			t.Fatalf("%d of %d came, want %d", v[1], v[0], next[v[0]])
		}
		next[v[0]]++
		got++
	}
	all.Wait()
	if _, ok := q.Take(); ok || q.Len() != 0 || q.waiting != nil {
		t.Errorf("%d are left, of which it holds %d", q.Len(), cap(q.waiting))
	}
}

// A queue that never runs empty does not grow.
func TestQueueThatIsNeverEmptyStaysSmall(t *testing.T) {
	q := NewQueue[int]()
	for n := range 3 {
		q.Put(n)
	}
	for n := range 100_000 {
		q.Put(n + 3)
		if v, ok := q.Take(); !ok || v != n {
			t.Fatalf("%d (%v), want %d", v, ok, n)
		}
	}
	if q.Len() != 3 || cap(q.waiting) > 1000 {
		t.Errorf("%d wait, and it holds %d", q.Len(), cap(q.waiting))
	}
}
