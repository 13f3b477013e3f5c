package llama

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// iterate takes in new requests and decodes one step, or waits for requests if there is nothing to
// do. It returns false once the mailbox is closed. A panic ends the requests of the model with an
// error, not the program.
func (d *decoder) iterate() (open bool) {
	defer func() {
		if p := recover(); p != nil {
			d.reset(p)
			open = true
		}
	}()
	if !d.takeIn() {
		return false
	}
	if len(d.running) == 0 {
		<-d.mailbox.wake
		return true
	}
	if cores, leave := d.enterGate(); leave != nil {
		d.stepOnce(cores, leave)
	}
	return true
}

// reset handles a panic outside a single reply, after which the state of the running requests is
// unknown. They end with an error and their sequences are cleared, as are sequences that differ
// from the library's state. Idle conversations keep their cache.
func (d *decoder) reset(p any) {
	err := fmt.Errorf("llama: a step failed: panic: %v", p)
	d.log.Error("panic in the decoder; all running requests were ended", "err", err, "stack",
		string(debug.Stack()))
	ended := map[*request]bool{}
	for _, r := range slices.Concat(d.running, d.waiting) {
		if !ended[r] { // a panic in start leaves it in both lists
			ended[r] = true
			r.end(err)
			d.mailbox.done()
		}
	}
	d.running, d.waiting, d.reserved = nil, nil, 0
	for _, s := range d.cache.sequences {
		if s.request != nil || int(d.lib.memorySeqPosMax(d.cache.mem, s.id)) != len(s.tokens)-1 {
			s.request = nil
			d.cache.clear(s)
		}
	}
}
