package analysis

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// waits returns how long a conversation that needs all cores for 20 ms, again and again, waits for them each time
// while work runs, sorted. Between two turns of five steps it leaves the cores for pause.
func waits(t *testing.T, gate *engine.Gate, pause time.Duration, work func() error) []time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan []time.Duration)
	go func() {
		var all []time.Duration
		defer func() { result <- all }()
		for n := 1; ; n++ {
			time.Sleep(30 * time.Millisecond)
			if n%5 == 0 {
				time.Sleep(pause)
			}
			asked := time.Now()
			leave, err := gate.Enter(ctx, engine.Live.Urgency(), gate.Cores())
			if err != nil {
				return
			}
			all = append(all, time.Since(asked))
			time.Sleep(20 * time.Millisecond)
			leave()
		}
	}()
	err := work()
	stop()
	all := <-result
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// A conversation beside a job waits for one small piece of it, and the job comes to the same end.
func TestAConversationHardlyWaitsForAJob(t *testing.T) {
	pcm := recorded(t, "vm-intro")
	for name, a := range map[string]*Analyser{"Moonshine": withEars(t), "Whisper": withWhisper(t)} {
		o := hearingOptions{
			transcription: transcribe(),
			prosody:       &contract.BatchProsody{Granularity: contract.ByWord},
			speakers:      true,
		}
		want := hearOrFail(t, a, pcm, o) // also loads what is loaded on its first use
		var got speechResult
		begin := time.Now()
		all := waits(t, a.Gate, 500*time.Millisecond, func() error {
			var err error
			got, err = a.hear(t.Context(), inPieces(pcm, 16000), o)
			return err
		})
		if got.Text != want.Text {
			t.Errorf("%s: beside a conversation the text is %q, alone %q", name, got.Text, want.Text)
		}
		p95 := all[len(all)*95/100]
		t.Logf("%s: %d waits, median %v, p95 %v, longest %v; %.1f s of sound took %v", name, len(all), all[len(all)/2],
			p95, all[len(all)-1], seconds(int64(len(pcm))), time.Since(begin).Round(time.Millisecond))
		if p95 > 300*time.Millisecond { // 50 ms on two free cores, most of which other tests may take
			t.Errorf("%s: a conversation waits %v, of 20 times once", name, p95)
		}
	}
}
