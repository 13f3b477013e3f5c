package fleet

import "fmt"

// ErrLast means that the hub's stream did not take a message, since the newest message of the
// box there is another one than the box said.
type ErrLast struct {
	Seq uint64 // of the newest message; 0: there is none
	ID  string // its id
}

func (e ErrLast) Error() string {
	return fmt.Sprintf("the newest message of this box in the stream is number %d (%s)", e.Seq, e.ID)
}
