package ear

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Ten minutes of silence are little Opus, and would be 38 MB of
// samples; that it is too much shows long before.
func TestAMessageOfManyHoursIsNotDecodedWhole(t *testing.T) {
	var file bytes.Buffer
	w, err := audio.NewOggOpusWriter(&file, engine.SpeechRateHz, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if err := w.Write(make([]float32, engine.SpeechRateHz)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stream := file.Bytes()[:file.Len()-200] // not a complete file, as a browser's stream
	var told []turn.Event
	e := New(Parts{Detector: loud{}, Clock: func() (at time.Duration) { return }, Post: func(e turn.Event) { told = append(told, e) }, Record: func(time.Duration, []float32) {}}, turn.DefaultSettings())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.hear(t.Context(), stream)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 30<<20 {
		t.Errorf("%d bytes took %d", len(stream), used)
	}
	if len(told) != 1 || told[0].(turn.Faulty).Fault.Code != contract.WholeRecording {
		t.Errorf("told %+v", told)
	}
}
