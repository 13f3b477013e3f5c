package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// speechFigures are those of text-to-speech.
type speechFigures struct {
	firstSound prometheus.Histogram
	seconds    prometheus.Counter
	words      *prometheus.CounterVec // by how they were heard
	remade     *prometheus.CounterVec // by whether it helped
}

func newSpeechFigures(r *prometheus.Registry) speechFigures {
	s := speechFigures{
		firstSound: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "parley_speech_first_sound_seconds", Help: "How long after it came a request for speech had its " +
				"first sound; their number is that of the requests that were spoken.",
			Buckets: []float64{.05, .075, .1, .15, .2, .3, .5, .75, 1, 2, 5, 10, 30},
		}),
		seconds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_speech_sound_seconds_total", Help: "How much speech was made for requests.",
		}),
		words: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_speech_words_total", Help: "Words that were spoken without instant mode, and how the box's " +
				"own ear heard them: right or wrong.",
		}, []string{"heard"}),
		remade: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_speech_remade_total",
			Help: "Snippets that were made twice, since something else was heard, by which of the two was taken.",
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

// Speech counts what is spoken for requests.
type Speech struct{ *Metrics }

// FirstSound notes how long after it began a request had its first sound.
func (m Speech) FirstSound(after time.Duration) { m.speech.firstSound.Observe(after.Seconds()) }

// Made notes how much sound was made.
func (m Speech) Synthesized(sound time.Duration) { m.speech.seconds.Add(sound.Seconds()) }

// Heard notes how many of so many words were heard wrong.
func (m Speech) WordErrors(wrong, of int) {
	wrong = min(wrong, of) // there may be more in what was heard
	m.speech.words.WithLabelValues("wrong").Add(float64(wrong))
	m.speech.words.WithLabelValues("right").Add(float64(of - wrong))
}

// Remade notes that a snippet was made twice, and whether the second was better.
func (m Speech) Retried(better bool) {
	taken := "first"
	if better {
		taken = "second"
	}
	m.speech.remade.WithLabelValues(taken).Inc()
}
