package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Transcript is what was said in a recording.
type Transcript struct {
	analysis.Transcript
	Stretches []analysis.Stretch
	Duration  time.Duration // of the recording
}

// Sound passes the samples of a recording, mono at engine.SpeechRateHz, to emit in pieces.
type Sound func(ctx context.Context, emit func([]float32) error) error

// Transcribe transcribes a recording of an account. found gets the text of each stretch of speech when it is known; it
// may be nil. The errors are those of package contract, and those of sound.
func (s *Service) Transcribe(ctx context.Context, account string, p contract.PostedOpenAITranscription, sound Sound,
	found func(text string) error) (Transcript, error) {
	ear, err := s.ear(p.Model)
	if err != nil {
		return Transcript{}, err
	}
	leave, err := enter(ctx, s.transcripts, account, "transcriptions")
	if err != nil {
		return Transcript{}, err
	}
	defer leave()
	urgency, stop := s.urgency(ctx)
	defer stop()
	samples := 0
	counted := func(ctx context.Context, emit func([]float32) error) error {
		return sound(ctx, func(pcm []float32) error {
			samples += len(pcm)
			return emit(pcm)
		})
	}
	text, stretches, err := ear.Transcribe(ctx, counted, analysis.Transcription{
		Language: p.Language,
		Words:    p.ResponseFormat == contract.OpenAIVerboseJSON && p.Wants(contract.OpenAIWords),
		Urgency:  urgency,
		Found:    found,
	})
	if wrong, ok := errors.AsType[*analysis.Error](err); ok {
		err = contract.ErrInvalid{Field: "language", Why: strings.TrimPrefix(wrong.Why, "transcription.language ")}
	}
	return Transcript{
		Transcript: text,
		Stretches:  stretches,
		Duration:   time.Duration(samples) * time.Second / engine.SpeechRateHz,
	}, err
}

// ear returns what transcribes under the name of a model: as in chats, or as in jobs for the names of OpenAI's models
// and for whisper.
func (s *Service) ear(model string) (*analysis.Analyser, error) {
	switch {
	case model == Default || model == s.LiveName:
		return s.Live, nil
	case slices.Contains(transcriptNames(), model):
		return s.Recordings, nil
	}
	return nil, noModel(model, "transcribe", append([]string{Default, s.LiveName}, transcriptNames()...))
}

// usage says how much sound was transcribed; OpenAI counts begun seconds.
func (t Transcript) usage() contract.OpenAISecondsOfWork {
	return contract.OpenAISecondsOfWork{Type: "duration", Seconds: int(math.Ceil(t.Duration.Seconds()))}
}

// JSON returns the transcript in the format json.
func (t Transcript) JSON() contract.OpenAITranscript {
	return contract.OpenAITranscript{Text: t.Text, Usage: t.usage()}
}

// Done returns the last event of a stream.
func (t Transcript) Done() contract.TranscriptTextDone {
	return contract.TranscriptTextDone{Text: t.Text, Usage: t.usage()}
}

// Verbose returns the transcript with the times that a request asks for.
func (t Transcript) Verbose(p contract.PostedOpenAITranscription) contract.OpenAIVerboseTranscript {
	v := contract.OpenAIVerboseTranscript{
		Task:     "transcribe",
		Language: languageName(t.Language),
		Duration: rounded(t.Duration.Seconds()),
		Text:     t.Text,
		Usage:    t.usage(),
	}
	if p.Wants(contract.OpenAISegments) {
		v.Segments = []contract.OpenAISegment{}
		for i, s := range t.Stretches {
			certainty := 0.0
			if s.Confidence > 0 { // it was measured, as words were
				certainty = math.Log(s.Confidence)
			}
			v.Segments = append(v.Segments, contract.OpenAISegment{
				ID:               i,
				Seek:             int(s.Begin * 100),
				Start:            rounded(s.Begin),
				End:              rounded(s.End),
				Text:             " " + s.Text, // as Whisper writes it
				Tokens:           []int{},
				AvgLogprob:       certainty,
				CompressionRatio: 1,
			})
		}
	}
	if p.Wants(contract.OpenAIWords) {
		v.Words = []contract.OpenAIWord{}
		for _, w := range t.Words {
			v.Words = append(v.Words, contract.OpenAIWord{Word: t.Text[w.From:w.To], Start: w.Begin, End: w.End})
		}
	}
	return v
}

// languageName returns the English name of a language, in lower case.
func languageName(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil || tag == "" {
		return "unknown"
	}
	return strings.ToLower(display.Languages(language.English).Name(parsed))
}

func rounded(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// SRT returns the transcript as SubRip subtitles.
func (t Transcript) SRT() string {
	var b strings.Builder
	for i, s := range t.subtitles() {
		fmt.Fprintf(&b, "%d\n%s --> %s\n%s\n\n", i+1, clock(s.Begin, ","), clock(s.End, ","), s.Text)
	}
	return b.String()
}

// VTT returns the transcript as WebVTT subtitles.
func (t Transcript) VTT() string {
	var b strings.Builder
	b.WriteString("WEBVTT\n\n")
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, s := range t.subtitles() {
		fmt.Fprintf(&b, "%s --> %s\n%s\n\n", clock(s.Begin, "."), clock(s.End, "."), escape.Replace(s.Text))
	}
	return b.String()
}

// maxSubtitle is the longest subtitle, in seconds: viewers read two lines in six.
const maxSubtitle = 6

// subtitles returns the stretches, cut between words into parts that can be read.
func (t Transcript) subtitles() []analysis.Stretch {
	var all []analysis.Stretch
	for _, s := range t.Stretches {
		words := t.Words[s.Words.From:s.Words.To]
		if s.End-s.Begin <= maxSubtitle || len(words) == 0 {
			all = append(all, s)
			continue
		}
		parts := int(math.Ceil((s.End - s.Begin) / maxSubtitle))
		for first := 0; first < len(words); {
			last := min(first+(len(words)+parts-1)/parts, len(words))
			from, to := words[first].From, s.To
			if first == 0 {
				from = s.From // with a quotation mark
			}
			if last < len(words) {
				to = words[last].From
			}
			all = append(all, analysis.Stretch{
				Text:  strings.TrimSpace(t.Text[from:to]),
				Begin: words[first].Begin,
				End:   words[last-1].End,
			})
			first = last
		}
	}
	return all
}

// clock writes a time as subtitles have it.
func clock(seconds float64, point string) string {
	ms := int64(math.Round(seconds * 1000))
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}
