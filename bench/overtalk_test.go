package bench

import (
	"math"
	"testing"
	"time"
)

// A box with real models that hears its own voice, as it was played, neither
// stops nor answers, and still hears who speaks over it: with all voices, delays
// and levels. It takes ten minutes, and a machine with nothing else to do.
func TestItsOwnVoiceComingBackIsNobody(t *testing.T) {
	onlyInFull(t)
	said, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	var all []disturbance
	for i, speech := range turnsBetween(said, shortestSpeech, longestSpeech, len(echoes)) {
		e := echo{echoes[i].delay, float32(math.Pow(10, echoes[i].dB/20))}
		all = append(all, disturbance{kind: anEcho, name: e.delay.String(), echo: e}, disturbance{
			kind: someSpeech,
			name: speech.Name,
			pcm:  speech.PCM,
			echo: e,
		})
	}
	for _, voice := range []string{"voice-joe", "voice-alan", "voice-jenny"} {
		t.Run(voice, func(t *testing.T) {
			o := options(t)
			o.Serve = append(o.Serve, "--voice", voice)
			b := started(t, o)
			talk := turnTaking{o: o, at: b.place}
			for _, d := range all { // one after the other: two at once are not spoken to in time everywhere
				got, err := talk.disturb(t.Context(), mode{}, d)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s %s, %+v: %s (%v)", d.kind, d.name, d.echo, got, got.late.Round(time.Millisecond))
				if got.fault != "" || got.answered || got.stopped != (d.kind == someSpeech) {
					t.Errorf("%s %s, %+v: %s", d.kind, d.name, d.echo, got)
				}
			}
		})
	}
}
