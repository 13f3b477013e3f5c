package appliance

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/plugins/registry"
)

// lateness returns for each clip how long after the end of the clips before it came; above
// 0 the listener hears a gap.
func lateness(t *testing.T, heard []receivedMessage) []time.Duration {
	t.Helper()
	var all []time.Duration
	var begun, had time.Duration
	for _, m := range heard {
		o, ok := m.ServerMessage.(contract.AudioOutput)
		if !ok {
			continue
		}
		if len(all) == 0 {
			begun = m.at
		}
		all = append(all, m.at-begun-had)
		clip, err := audio.DecodeAll(o.Data, engine.SpeechRateHz)
		if err != nil {
			t.Fatal(err)
		}
		had += time.Duration(len(clip)) * time.Second / engine.SpeechRateHz
	}
	slices.Sort(all)
	return all
}

// A long text is spoken while the plugins of other chats use all their time, eight in
// parallel, again and again: each is stopped, and the text is spoken to its end. The test
// logs how late the speech was, which means nothing on a busy machine.
func TestHangingPluginsDoNotBreakSpeech(t *testing.T) {
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set: this uses all cores for half a minute")
	}
	b := startBox(t)
	s := registryOf(t, b.cfg.Data)
	installPlugin(t, s, guideFile(t, "press_key", "shout", "fall"), "none")
	for _, loops := range []int{0, 8, 0, 8} {
		ctx, stop := context.WithCancel(t.Context())
		var ended, other atomic.Int64
		var working sync.WaitGroup
		for range loops {
			working.Go(func() {
				for ctx.Err() == nil {
					switch _, err := s.Try(ctx, registry.Origin{}, "guide", "hang", nil); {
					case ctx.Err() != nil:
					case err != nil && strings.Contains(err.Error(), "longer than"):
						ended.Add(1)
					default:
						other.Add(1)
						t.Errorf("a plugin that hangs: %v", err)
					}
				}
			})
		}
		if loops > 0 {
			waitFor(t, "plugins have been ended", func() bool { return ended.Load() > 0 })
		}
		c := b.call(t, linear16)
		begun := time.Now()
		c.send(contract.AssistantInput{
			Text: strings.Repeat("The museum opens at ten, and the garden behind it is open all day. ", 8)})
		late := lateness(t, c.until("assistant_end", 1, waitLimit))
		took := time.Since(begun)
		stop()
		working.Wait()
		c.conn.CloseNow()
		if len(late) < 8 {
			t.Fatalf("%d pieces came", len(late))
		}
		t.Logf("%d plugins hang (%d were ended): %d pieces in %v; the latest came %v after it was wanted, the 95th "+
			"percentile %v", loops, ended.Load(), len(late), took, late[len(late)-1], late[len(late)*95/100])
	}
}
