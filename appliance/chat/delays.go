package chat

import (
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// lateWindow is for how long an answer shows how busy the box is: about two turns of a conversation.
	lateWindow = 30 * time.Second
	// lateChats is how many conversations have to be answered before the box can be judged too slow: a single
	// one may have a long prompt.
	lateChats = 2
	// lateRetry is the Retry-After of a box that answers late.
	lateRetry = 15 * time.Second
)

// delays holds how much later than the end of the silence the newest answer of each conversation came. Time
// spent waiting for something outside the box, such as a custom language model or a tool, is not included.
type delays struct {
	mu     sync.Mutex
	newest map[string]lastAnswer // by chat
}

type lastAnswer struct {
	at   time.Time
	late time.Duration
}

func (d *delays) note(chat string, now time.Time, late time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.newest == nil {
		d.newest = map[string]lastAnswer{}
	}
	d.newest[chat] = lastAnswer{now, late}
}

func (d *delays) forget(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.newest, chat)
}

// mostlyLate reports whether more than half of the recently answered conversations waited longer than most.
func (d *delays) mostlyLate(now time.Time, most time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	all, late := 0, 0
	for _, a := range d.newest {
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

// refuseIfLate returns a contract.ErrFull if the running conversations are answered late, because one more
// would make all of them later.
func (h *Host) refuseIfLate() error {
	if h.MaxAddedDelay <= 0 || !h.delays.mostlyLate(time.Now(), h.MaxAddedDelay) {
		return nil
	}
	return contract.ErrFull{What: "the box is busy: the conversations that it has are answered late",
		RetryAfter: lateRetry}
}
