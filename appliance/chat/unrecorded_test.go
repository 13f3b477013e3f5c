package chat

import (
	"os"
	"testing"
	"testing/synctest"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// A client may ask for nothing of its chat to be stored. Otherwise the chat is the same.
func TestAnUnrecordedChatStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		sounds := &archive{t: t, dir: t.TempDir()}
		h := hostOf(f, func(p *Parts) { p.Recordings = sounds })
		c := begin(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{NoHistory: true}})
		if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		f.until(t, "assistant_end")
		c.HangUp()
		<-c.Done()
		files, err := os.ReadDir(sounds.dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.stored) > 0 || f.status != "" || len(files) > 0 {
			t.Errorf("stored: %v, the status %q and %d sound files", f.stored, f.status, len(files))
		}
	})
}
