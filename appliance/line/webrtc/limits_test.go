package webrtc

import (
	"testing"
	"time"
)

// At its end a call waits for whoever takes a message, and holds the lock under
// which the library tells how much has come: asking it there never ended.
func TestWhoTakesAMessageAsksTheLibraryNothing(t *testing.T) {
	asked := 0
	f := inflow{received: func() uint64 { asked++; return 1 }}
	f.message()()
	if asked > 0 {
		t.Error("the library was asked while a message was taken")
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
	for range 10 { // messages that end, however much it is
		f.message()()
		if bytes += receiveBuffer; look() {
			t.Fatal("messages that end stall")
		}
	}
	taken := f.message()
	for range 10 { // what waits behind one that the session is being given
		if bytes += receiveBuffer; look() {
			t.Fatal("a message that is being taken stalls")
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
