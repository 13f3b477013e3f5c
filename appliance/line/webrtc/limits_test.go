package webrtc

import (
	"testing"
	"time"
)

// A call that ends waits for the receiver of a message while it holds the lock that the
// library needs to report its buffer. Asking for the buffer there was a deadlock.
func TestReceivingAMessageDoesNotCallTheLibrary(t *testing.T) {
	asked := 0
	f := inflow{received: func() uint64 { asked++; return 1 }}
	f.message()()
	if asked > 0 {
		t.Error("the library was called while a message was received")
	}
	if f.stalls(time.Now()); asked != 1 {
		t.Errorf("a look asked %d times", asked)
	}
}

func TestAMessageWithoutAnEndStalls(t *testing.T) {
	var bytes uint64
	now := time.Now()
	f := inflow{received: func() uint64 { return bytes }}
	look := func() bool {
		now = now.Add(stallInterval)
		return f.stalls(now)
	}
	for range 10 { // complete messages, in any amount
		f.message()()
		if bytes += receiveBuffer; look() {
			t.Fatal("messages that end stall")
		}
	}
	taken := f.message()
	for range 10 { // what waits while the session handles a message
		if bytes += receiveBuffer; look() {
			t.Fatal("a message that is being handled stalls")
		}
	}
	taken()
	look()
	for range 10 { // acknowledgements
		if bytes += stallFlow - 1; look() {
			t.Fatal("acknowledgements stall")
		}
	}
	bytes += stallBuffer + 1
	for i := range stallChecks {
		if got, want := look(), i == stallChecks-1; got != want {
			t.Errorf("at look %d behind the last message it stalls: %v", i, got)
		}
	}
}
