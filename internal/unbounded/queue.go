// Package unbounded has an unbounded multi-producer, single-consumer queue that holds
// memory only for what is queued: in nearly all of thousands of conversations that is
// nothing. The producers must bound it.
package unbounded

import "sync"

// Queue holds values in order. Create one with NewQueue.
type Queue[T any] struct {
	mu      sync.Mutex
	waiting []T
	head    int // index in waiting of the next value to take
	more    chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue[T any]() *Queue[T] { return &Queue[T]{more: make(chan struct{}, 1)} }

// Put adds v. It is safe for concurrent use.
func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	q.waiting = append(q.waiting, v)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// More returns a channel that receives a value after a Put. A consumer for which Take
// returns nothing waits for it and tries again.
func (q *Queue[T]) More() <-chan struct{} { return q.more }

// Take removes and returns the first value; ok is false if the queue is empty. Only one
// goroutine may call it.
func (q *Queue[T]) Take() (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.waiting) {
		return v, false
	}
	var none T
	v, q.waiting[q.head] = q.waiting[q.head], none // releases the taken value
	q.head++
	switch {
	case q.head == len(q.waiting):
		q.waiting, q.head = nil, 0
	case q.head >= 64 && q.head > len(q.waiting)/2: // a queue that never runs empty releases what was taken
		q.waiting, q.head = append([]T(nil), q.waiting[q.head:]...), 0
	}
	return v, true
}

// Len returns the number of queued values.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) - q.head
}
