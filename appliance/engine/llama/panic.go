package llama

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// iterate takes in what is new and decodes once, or waits for news where there is
// nothing to do. It is false once the mailbox is closed. A panic in it ends the
// requests of the model with an error, not the box.
func (o *decoder) iterate() (open bool) {
	defer func() {
		if p := recover(); p != nil {
			o.reset(p)
			open = true
		}
	}()
	if !o.takeIn() {
		return false
	}
	if len(o.running) == 0 {
		<-o.mailbox.wake
		return true
	}
	if cores, leave := o.enterGate(); leave != nil {
		o.stepOnce(cores, leave)
	}
	return true
}

// reset is what follows a panic between two requests, after which nobody
// knows what holds of those that were under way: they end with an error, and
// what was computed for them is forgotten, as is what the library does not have
// as it is written down. Conversations that wait for their next turn keep theirs.
func (o *decoder) reset(p any) {
	err := fmt.Errorf("llama: a step failed: panic: %v", p)
	o.log.Error("panic beside the replies; all that were under way are ended", "err", err, "stack",
		string(debug.Stack()))
	ended := map[*request]bool{}
	for _, r := range slices.Concat(o.running, o.waiting) {
		if !ended[r] { // a panic in its start leaves it among both
			ended[r] = true
			r.end(err)
			o.mailbox.done()
		}
	}
	o.running, o.waiting, o.reserved = nil, nil, 0
	for _, s := range o.cache.sequences {
		if s.request != nil || int(o.lib.memorySeqPosMax(o.cache.mem, s.id)) != len(s.tokens)-1 {
			s.request = nil
			o.cache.clear(s)
		}
	}
}
