// Package unbounded is a queue from those who bring to the one who takes, which
// holds memory only for what waits: of thousands of conversations nearly all wait
// for nothing. It has no bound; who puts sees to that.
package unbounded

import "sync"

// Queue holds what waits, in order. Make one with New.
type Queue[T any] struct {
	mu      sync.Mutex
	waiting []T
	head    int // of waiting
	more    chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue[T any]() *Queue[T] { return &Queue[T]{more: make(chan struct{}, 1)} }

// Put adds v, from any goroutine.
func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	q.waiting = append(q.waiting, v)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// More has one when something was put since it was last received from. So who
// finds nothing to Take waits for it, and looks again.
func (q *Queue[T]) More() <-chan struct{} { return q.more }

// Take takes the first that waits; ok is false where none does. One goroutine
// calls it.
func (q *Queue[T]) Take() (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.waiting) {
		return v, false
	}
	var none T
	v, q.waiting[q.head] = q.waiting[q.head], none // what was taken is not held
	q.head++
	switch {
	case q.head == len(q.waiting):
		q.waiting, q.head = nil, 0
	case q.head >= 64 && q.head > len(q.waiting)/2: // it never runs empty: what was taken makes room
		q.waiting, q.head = append([]T(nil), q.waiting[q.head:]...), 0
	}
	return v, true
}

// Len is how many wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) - q.head
}
