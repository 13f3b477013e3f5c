package chat

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine/enginetest"
)

// Sound is sent ahead of its playback by the lead that the box sets or the client asks for.
func TestAClientMayAskForALongerLead(t *testing.T) {
	for secs, wanted := range map[int]int{0: 5, 30: 27} { // sentences of 1.15 s
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			f.closed = make(chan int, 1)
			h := hostOf(voiced{f, enginetest.FixedSound(contract.OutputRateHz, second)})
			c := begin(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{SoundAheadSecs: secs}})
			if err := c.Receive(contract.AssistantInput{Text: strings.Repeat("This is a sentence. ", 60)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if got := strings.Count(fmt.Sprint(f.messages()), "audio_output"); got != wanted {
				t.Errorf("with %d: %d sentences were sent at once, want %d", secs, got, wanted)
			}
			c.HangUp()
			<-c.Done()
			if err := h.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
