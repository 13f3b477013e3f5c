package expression

import (
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

// recordingOf returns a Recording of a whole sound.
func recordingOf(m *Meter, pcm []float32) *Recording {
	r := m.NewRecording()
	for p := range slices.Chunk(pcm, 512) {
		r.Hear(p)
	}
	r.Finish()
	return r
}

func seconds16(pcm []float32) time.Duration { return time.Duration(len(pcm)) * time.Second / rateHz }

// A recording that is judged as a whole has the tone of an utterance, wherever it is in a longer one.
func TestAStretchHasTheToneThatItHasAlone(t *testing.T) {
	m := meter(t)
	pcm := recorded(t, "vm-marked-urgent")
	pcm = pcm[:len(pcm)/hop*hop]
	want := heardBy(m, pcm, len(pcm)).Tone()
	if got := recordingOf(m, pcm).Tone(0, seconds16(pcm)); got != want {
		t.Errorf("the whole sounds as %v, want %v", got, want)
	}
	silence := make([]float32, 3*rateHz)
	whole := slices.Concat(silence, pcm, silence, sung())
	got := recordingOf(m, whole).Tone(3*time.Second, 3*time.Second+seconds16(pcm)).Scores()
	for i, v := range want.Scores() { // the pitch of its edges and the first change differ
		if d := got[i] - v; d > 0.05 || d < -0.05 {
			t.Errorf("%s is %.3f in a longer recording, %.3f alone", contract.EmotionName(i), got[i], v)
		}
	}
}

// Every score of a voice is above 0, and what is no voice has the tone that is expected without one.
func TestAVoiceHasAllScores(t *testing.T) {
	m := meter(t)
	for name, pcm := range map[string][]float32{"speech": recorded(t, "vm-marked-urgent"), "silence": filled(0, rateHz),
		"nothing": nil} {
		tone := recordingOf(m, pcm).Tone(0, time.Minute)
		if (tone.voiced > 0) != (name == "speech") {
			t.Errorf("%s: %v voiced frames", name, tone.voiced)
		}
		for i, v := range tone.Scores() {
			if !(v >= wordsFloor && v <= 1) {
				t.Errorf("%s: %s is %v", name, contract.EmotionName(i), v)
			}
		}
	}
}

// A mean leaves out what is no voice.
func TestTheMeanToneIsThatOfTheVoice(t *testing.T) {
	m := meter(t)
	pcm := recorded(t, "vm-marked-urgent")
	voice := recordingOf(m, pcm).Tone(0, time.Minute)
	silent := recordingOf(m, filled(0, rateHz)).Tone(0, time.Minute)
	if got := MeanTone(silent, voice, silent).Scores(); got != voice.Scores() {
		t.Errorf("with silence the voice has %v, alone %v", got, voice.Scores())
	}
}

// A recording of any length takes the same memory, and its newest part can be judged.
func TestALongRecordingTakesNoMoreMemory(t *testing.T) {
	r := meter(t).NewRecording()
	voice := recorded(t, "vm-marked-urgent")
	for at := 0; at < 120*rateHz; at += len(voice) {
		r.Hear(voice)
	}
	if n := len(r.sound.frames); n > recordingFrames {
		t.Errorf("%d frames are stored", n)
	}
	if r.Tone(60*time.Second, 120*time.Second).voiced == 0 {
		t.Error("the last minute cannot be judged")
	}
	if r.Tone(0, 10*time.Second).voiced > 0 {
		t.Error("the beginning can still be judged, as what is not it")
	}
}

func BenchmarkToneOf4s(b *testing.B) {
	m, err := New()
	if err != nil {
		b.Fatal(err)
	}
	pcm := slices.Concat(sung(), sung())
	r := m.NewRecording()
	r.Hear(pcm)
	for b.Loop() {
		r.Tone(0, 4*time.Second)
	}
}
