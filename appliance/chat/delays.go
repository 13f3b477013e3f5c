package chat

import (
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// lateWindow is for how long an answer says how the box is now: two turns of a
	// conversation take about as long.
	lateWindow = 30 * time.Second
	// lateChats is how many conversations have to be answered before it can be
	// told that the box is too slow for all of them: one alone may have a long
	// prompt.
	lateChats = 2
	// lateRetry is when a box whose answers come late is worth another try.
	lateRetry = 15 * time.Second
)

// delays knows by how much the newest answer of each conversation came later
// than the silence that it was to follow. What waits for others than the box, a
// custom language model or a tool, is not in it.
type delays struct {
	mu     sync.Mutex
	newest map[string]lastAnswer // by chat
}

type lastAnswer struct {
	at   time.Time
	late time.Duration
}

func (l *delays) note(chat string, now time.Time, late time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest == nil {
		l.newest = map[string]lastAnswer{}
	}
	l.newest[chat] = lastAnswer{now, late}
}

func (l *delays) forget(chat string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.newest, chat)
}

// releaseGroup tells whether more than half of the conversations that were answered lately
// were answered later than most.
func (l *delays) mostlyLate(now time.Time, most time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, late := 0, 0
	for _, a := range l.newest {
		if now.Sub(a.at) > lateWindow {
			continue
		}
		all++
		if a.late > most {
			late++
		}
	}
	return all >= lateChats && 2*late > all
}

// refuseIfLate refuses one more conversation where those that there are get their
// answers late: it would make all of them later.
func (h *Host) refuseIfLate() error {
	if h.MaxAddedDelay <= 0 || !h.delays.mostlyLate(time.Now(), h.MaxAddedDelay) {
		return nil
	}
	return contract.ErrFull{What: "the box is busy: the conversations that it has are answered late",
		RetryAfter: lateRetry}
}
