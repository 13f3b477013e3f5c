package shape

// Settings are how a voice is altered. The zero value leaves it unchanged.
type Settings struct {
	Pitch      float64 `json:"pitch,omitempty"`      // semitones up
	Formant    float64 `json:"formant,omitempty"`    // semitones up, of the resonances: a shorter vocal tract
	Range      float64 `json:"range,omitempty"`      // how much more the pitch varies: -1 is a monotone, 1 double
	Brightness float64 `json:"brightness,omitempty"` // dB above 3 kHz
	Warmth     float64 `json:"warmth,omitempty"`     // dB below 300 Hz
	Breath     float64 `json:"breath,omitempty"`     // 0 to 1; 1 is a whisper
	Rough      float64 `json:"rough,omitempty"`      // 0 to 1: irregularity of the voice
	Pauses     float64 `json:"pauses,omitempty"`     // how much longer pauses are: 1 is twice, -0.5 half
	Gain       float64 `json:"gain,omitempty"`       // dB above the usual level
}

// The limits of Settings: beyond them speech is not intelligible.
const (
	MaxPitch, MaxFormant, MaxTone = 12, 6, 12
	MaxPauses, MaxRange           = 3, 1.5
	MinGain, MaxGain              = -12, 8
)

// Plus returns s followed by t, within the limits.
func (s Settings) Plus(t Settings) Settings {
	within := func(x, low, high float64) float64 { return min(max(x, low), high) }
	return Settings{
		Pitch:      within(s.Pitch+t.Pitch, -MaxPitch, MaxPitch),
		Formant:    within(s.Formant+t.Formant, -MaxFormant, MaxFormant),
		Range:      within((1+s.Range)*(1+t.Range)-1, -1, MaxRange),
		Brightness: within(s.Brightness+t.Brightness, -MaxTone, MaxTone),
		Warmth:     within(s.Warmth+t.Warmth, -MaxTone, MaxTone),
		Breath:     within(1-(1-s.Breath)*(1-t.Breath), 0, 1),
		Rough:      within(1-(1-s.Rough)*(1-t.Rough), 0, 1),
		Pauses:     within((1+s.Pauses)*(1+t.Pauses)-1, -1, MaxPauses),
		Gain:       within(s.Gain+t.Gain, MinGain, MaxGain),
	}
}
