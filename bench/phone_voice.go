package bench

import (
	"context"
	"math"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

// addPhoneVoice speaks sentences with the configured voice, and adds how loud and how clear a
// telephone hears them, compared with the same sound unchanged.
func (r *Report) addPhoneVoice(ctx context.Context, opened *engines.Set) error {
	voice, err := opened.Voice(ctx, "")
	if err != nil {
		return err
	}
	var plain, clear phoneVoiceResult
	for _, sentence := range spokenSentences() {
		sound, err := engine.SpeakWhole(ctx, voice, sentence, engine.SpeakOptions{})
		if err != nil {
			return err
		}
		pcm := audio.Resample(sound.PCM, sound.RateHz, audio.CallRateHz)
		relay, err := audio.NewRelayEncoder(audio.MuLaw, audio.CallRateHz)
		if err != nil {
			return err
		}
		if err := plain.hear(ctx, opened.Transcriber, relay, pcm, sentence); err != nil {
			return err
		}
		if err := clear.hear(ctx, opened.Transcriber, audio.NewVoiceEncoder(audio.MuLaw), pcm, sentence); err != nil {
			return err
		}
	}
	const note = "as a telephone hears the configured voice; the voice as it is"
	r.against("voice_loudness_pcmu", clear.loudness(), "LUFS", plain.loudness(), note)
	r.against("voice_peak_pcmu", clear.peak(), "dB", plain.peak(), note)
	r.against("voice_word_error_pcmu", clear.rate(), "%", plain.rate(), note)
	return nil
}

// phoneVoiceResult is what a telephone heard of a voice.
type phoneVoiceResult struct {
	pcm          []float32
	wrong, words int
}

func (p *phoneVoiceResult) hear(ctx context.Context, ear engine.Transcriber, e *audio.PhoneEncoder, pcm []float32,
	sentence string) error {
	d, err := audio.NewPhoneDecoder(audio.MuLaw, engine.SpeechRateHz)
	if err != nil {
		return err
	}
	n := audio.Samples(audio.CallFrame, audio.CallRateHz)
	var heard []float32
	for pcm = append(pcm, make([]float32, 2*n)...); len(pcm) >= n; pcm = pcm[n:] { // the filters hold the end back
		packet, err := e.Encode(pcm[:n])
		if err != nil {
			return err
		}
		sound, err := d.Decode(packet)
		if err != nil {
			return err
		}
		heard = append(heard, sound...)
	}
	got, err := ear.Transcribe(ctx, heard, engine.TranscribeOptions{Language: "en"})
	want := text.Words(sentence)
	p.wrong, p.words = p.wrong+text.WordErrors(want, text.Words(got.Text)), p.words+len(want)
	p.pcm = append(p.pcm, heard...)
	return err
}

func (p *phoneVoiceResult) loudness() float64 { return audio.Loudness(p.pcm, engine.SpeechRateHz) }
func (p *phoneVoiceResult) rate() float64     { return 100 * float64(p.wrong) / float64(p.words) }

func (p *phoneVoiceResult) peak() float64 {
	var peak float32
	for _, x := range p.pcm {
		peak = max(peak, x, -x)
	}
	return 20 * math.Log10(float64(peak))
}
