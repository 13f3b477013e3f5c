package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// speechFigures are the figures of text-to-speech.
type speechFigures struct {
	firstSound prometheus.Histogram
	seconds    prometheus.Counter
	words      *prometheus.CounterVec // by whether the transcriber understood them
	remade     *prometheus.CounterVec // by which of the two was used
}

func newSpeechFigures(r *prometheus.Registry) speechFigures {
	s := speechFigures{
		firstSound: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "parley_speech_first_sound_seconds", Help: "Time from a request for speech to its first " +
				"sound; the count is the number of requests that were spoken.",
			Buckets: []float64{.05, .075, .1, .15, .2, .3, .5, .75, 1, 2, 5, 10, 30},
		}),
		seconds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_speech_sound_seconds_total", Help: "Seconds of speech that were synthesised for requests.",
		}),
		words: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_speech_words_total", Help: "Words that were spoken without instant mode, by how the box's " +
				"transcriber heard them: right or wrong.",
		}, []string{"heard"}),
		remade: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_speech_remade_total",
			Help: "Snippets that were synthesised twice because the first was misheard, by which one was taken.",
		}, []string{"taken"}),
	}
	for _, heard := range []string{"right", "wrong"} {
		s.words.WithLabelValues(heard)
	}
	for _, taken := range []string{"first", "second"} {
		s.remade.WithLabelValues(taken)
	}
	r.MustRegister(s.firstSound, s.seconds, s.words, s.remade)
	return s
}

// Speech counts what text-to-speech speaks for requests.
type Speech struct{ *Metrics }

// FirstSound records the time from a request to its first sound.
func (s Speech) FirstSound(after time.Duration) { s.speech.firstSound.Observe(after.Seconds()) }

// Synthesized counts synthesised sound.
func (s Speech) Synthesized(sound time.Duration) { s.speech.seconds.Add(sound.Seconds()) }

// WordErrors counts spoken words, some of which the transcriber heard wrong.
func (s Speech) WordErrors(wrong, of int) {
	wrong = min(wrong, of) // the transcript may have more words
	s.speech.words.WithLabelValues("wrong").Add(float64(wrong))
	s.speech.words.WithLabelValues("right").Add(float64(of - wrong))
}

// Retried counts a snippet that was synthesised twice, and whether the second was better.
func (s Speech) Retried(better bool) {
	taken := "first"
	if better {
		taken = "second"
	}
	s.speech.remade.WithLabelValues(taken).Inc()
}
