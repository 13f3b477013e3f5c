package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of the request for a batch job. The settings bound what is uploaded.
const (
	// MaxBatchSources is how many files, URLs and texts a job may have together: as many as a
	// person selects in a folder. More belong in an archive.
	MaxBatchSources = 1000
	// MaxBatchTextChars bounds one text: a novel.
	MaxBatchTextChars = 1 << 20

	DefaultFacesPerSecond  = 3.0
	MinFacesPerSecond      = 0.01
	MaxFacesPerSecond      = 60.0 // every frame of most videos
	DefaultFaceProbability = 0.99
	DefaultMinFaceSize     = 60 // pixels: the nets see faces at 64 and 112
	MaxMinFaceSize         = 10_000

	DefaultWindowLength = 4.0 // seconds
	DefaultWindowStep   = 1.0
	MinWindowLength     = 0.5 // a shorter stretch of a voice has no feeling that is measurable
	MaxWindowLength     = 60.0
	MinWindowStep       = 0.5

	DefaultTranscriptConfidence = 0.5
)

// Granularity is how long the stretches are that get scores.
type Granularity string

// The granularities.
const (
	ByWord      Granularity = "word"
	BySentence  Granularity = "sentence"
	ByUtterance Granularity = "utterance"           // ends at a natural pause
	ByTurn      Granularity = "conversational_turn" // ends where another speaker begins
)

// Unconfigurable is a model, or a part of one, that has no options.
type Unconfigurable struct{}

// BatchModels are the models that a job runs. On the wire an absent option has its
// default value.
type BatchModels struct {
	Face     *BatchFace      `json:"face,omitempty"`
	Burst    *Unconfigurable `json:"burst,omitempty"`
	Prosody  *BatchProsody   `json:"prosody,omitempty"`
	Language *BatchLanguage  `json:"language,omitempty"`
	NER      *BatchNER       `json:"ner,omitempty"`
	Facemesh *Unconfigurable `json:"facemesh,omitempty"`
}

// BatchFace are the options of the face model.
type BatchFace struct {
	FPSPred       float64         `json:"fps_pred"`       // frames of a video that are analysed, per second
	ProbThreshold float64         `json:"prob_threshold"` // faces with a lower probability are left out, 0 to 1
	IdentifyFaces bool            `json:"identify_faces"` // groups the faces of a file by person
	MinFaceSize   int             `json:"min_face_size"`  // side of the box, in pixels
	FACS          *Unconfigurable `json:"facs,omitempty"`
	Descriptions  *Unconfigurable `json:"descriptions,omitempty"`
	SaveFaces     bool            `json:"save_faces"` // puts pictures of the faces into the artifacts
}

// BatchProsody are the options of the prosody model.
type BatchProsody struct {
	Granularity      Granularity  `json:"granularity,omitempty"`
	Window           *BatchWindow `json:"window,omitempty"` // takes the place of Granularity
	IdentifySpeakers bool         `json:"identify_speakers"`
}

// BatchWindow is a window that slides over the sound, in seconds.
type BatchWindow struct {
	Length float64 `json:"length"`
	Step   float64 `json:"step"`
}

// BatchLanguage are the options of the language model.
type BatchLanguage struct {
	Granularity      Granularity     `json:"granularity,omitempty"`
	Sentiment        *Unconfigurable `json:"sentiment,omitempty"`
	Toxicity         *Unconfigurable `json:"toxicity,omitempty"`
	IdentifySpeakers bool            `json:"identify_speakers"`
}

// BatchNER are the options of the model that finds names.
type BatchNER struct {
	IdentifySpeakers bool `json:"identify_speakers"`
}

// BatchTranscription says how speech is transcribed.
type BatchTranscription struct {
	Language            string  `json:"language,omitempty"` // BCP 47; empty: detected
	IdentifySpeakers    bool    `json:"identify_speakers"`
	ConfidenceThreshold float64 `json:"confidence_threshold"` // utterances below it are left out, 0 to 1
}

// PostedBatchJob requests the analysis of files, URLs and texts. Uploaded files
// come beside it.
type PostedBatchJob struct {
	// The models; default: all, with their default options.
	Models *BatchModels `json:"models,omitempty"`
	// How speech is transcribed; null turns transcription off.
	Transcription *BatchTranscription `json:"transcription"`
	URLs          []string            `json:"urls,omitempty"`
	Text          []string            `json:"text,omitempty"`
	CallbackURL   string              `json:"callback_url,omitempty"`
	// Has no effect: a box sends no mail.
	Notify bool `json:"notify"`
}

// AllBatchModels returns every model with its default options.
func AllBatchModels() BatchModels {
	return BatchModels{
		Face:     new(readBatchFace(object{})),
		Burst:    &Unconfigurable{},
		Prosody:  new(readBatchProsody(object{})),
		Language: new(readBatchLanguage(object{})),
		NER:      &BatchNER{},
		Facemesh: &Unconfigurable{},
	}
}

// ParsePostedBatchJob parses a request for a job. An empty text asks for every
// model with its default options.
func ParsePostedBatchJob(data []byte) (PostedBatchJob, error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	return Parse[PostedBatchJob](data)
}

func (PostedBatchJob) read(o object) PostedBatchJob {
	p := PostedBatchJob{
		Models:        optional(o, "models", readBatchModels),
		Transcription: optional(o, "transcription", readBatchTranscription),
		URLs:          o.strings("urls", MaxBatchSources, MaxURLChars),
		Text:          o.strings("text", MaxBatchSources, MaxBatchTextChars),
		CallbackURL:   o.text("callback_url", MaxURLChars),
		Notify:        o.boolean("notify"),
	}
	if p.Models == nil || *p.Models == (BatchModels{}) {
		p.Models = new(AllBatchModels())
	}
	if p.Transcription == nil && !o.isNull("transcription") {
		p.Transcription = new(readBatchTranscription(object{}))
	}
	for i, u := range p.URLs {
		if why := sourceProblem(u); why != "" {
			o.in("urls").note(i, "wrong_value", why)
		}
	}
	if problem := webhookProblem(p.CallbackURL); p.CallbackURL != "" && problem != "" {
		o.note("callback_url", "wrong_value", problem)
	}
	return p
}

// sourceProblem returns why a job cannot fetch a URL, or "". The address of its
// host is checked when it is fetched.
func sourceProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("%q is not a URL; expected one that begins with https:// or http://", Clip(text))
	case u.User != nil:
		return "it contains a user name or a password, which the box would store; use a signed link instead"
	}
	return ""
}

// strings parses a list of strings. Null entries are dropped.
func (o object) strings(name string, most, chars int) []string {
	o.expect(name, Shape{
		Kind:  "array",
		Items: &Shape{Kind: "string", High: bound(chars)},
		High:  bound(most),
	})
	var all []string
	for i, item := range o.items(name, most) {
		var s string
		switch {
		case kindOf(item) == "null":
			continue
		case json.Unmarshal(item, &s) != nil:
			o.in(name).note(i, "wrong_type", "expected a string, got "+excerpt(item))
		case utf8.RuneCountInString(s) > chars:
			o.in(name).note(i, "wrong_value",
				fmt.Sprintf("more than %d characters", chars))
		}
		all = append(all, s)
	}
	return all
}

func readBatchModels(o object) BatchModels {
	return BatchModels{
		Face:     optional(o, "face", readBatchFace),
		Burst:    optional(o, "burst", readUnconfigurable),
		Prosody:  optional(o, "prosody", readBatchProsody),
		Language: optional(o, "language", readBatchLanguage),
		NER:      optional(o, "ner", readBatchNER),
		Facemesh: optional(o, "facemesh", readUnconfigurable),
	}
}

func readUnconfigurable(object) Unconfigurable { return Unconfigurable{} }

func readBatchFace(o object) BatchFace {
	fps := o.numberOrNil("fps_pred", MinFacesPerSecond, MaxFacesPerSecond)
	f := BatchFace{
		FPSPred:       *orDefault(fps, DefaultFacesPerSecond),
		ProbThreshold: *orDefault(o.numberOrNil("prob_threshold", 0, 1), DefaultFaceProbability),
		IdentifyFaces: o.boolean("identify_faces"),
		MinFaceSize:   DefaultMinFaceSize,
		FACS:          optional(o, "facs", readUnconfigurable),
		Descriptions:  optional(o, "descriptions", readUnconfigurable),
		SaveFaces:     o.boolean("save_faces"),
	}
	if n := o.numberOrNil("min_face_size", 0, MaxMinFaceSize); n != nil {
		f.MinFaceSize = int(*n)
	}
	return f
}

func readBatchProsody(o object) BatchProsody {
	p := BatchProsody{
		Granularity:      readGranularity(o, ByUtterance),
		Window:           optional(o, "window", readBatchWindow),
		IdentifySpeakers: o.boolean("identify_speakers"),
	}
	if p.Window != nil {
		p.Granularity = ""
	}
	return p
}

func readBatchWindow(o object) BatchWindow {
	return BatchWindow{
		Length: *orDefault(o.numberOrNil("length", MinWindowLength, MaxWindowLength), DefaultWindowLength),
		Step:   *orDefault(o.numberOrNil("step", MinWindowStep, MaxWindowLength), DefaultWindowStep),
	}
}

func readBatchLanguage(o object) BatchLanguage {
	return BatchLanguage{
		Granularity:      readGranularity(o, ByWord),
		Sentiment:        optional(o, "sentiment", readUnconfigurable),
		Toxicity:         optional(o, "toxicity", readUnconfigurable),
		IdentifySpeakers: o.boolean("identify_speakers"),
	}
}

func readGranularity(o object, otherwise Granularity) Granularity {
	if g := choice(o, "granularity", ByWord, BySentence, ByUtterance, ByTurn); g != "" {
		return g
	}
	return otherwise
}

func readBatchNER(o object) BatchNER {
	return BatchNER{IdentifySpeakers: o.boolean("identify_speakers")}
}

// BatchLanguages returns the languages that a job may name, as BCP 47 tags.
func BatchLanguages() []string {
	return strings.Fields(`zh da nl en en-AU en-IN en-NZ en-GB fr fr-CA de hi hi-Latn id it ja ko no pl
		pt pt-BR pt-PT ru es es-419 sv ta tr uk`)
}

func readBatchTranscription(o object) BatchTranscription {
	return BatchTranscription{
		Language:         choice(o, "language", BatchLanguages()...),
		IdentifySpeakers: o.boolean("identify_speakers"),
		ConfidenceThreshold: *orDefault(o.numberOrNil("confidence_threshold", 0, 1),
			DefaultTranscriptConfidence),
	}
}

// Speakers reports whether a model of the job needs the speakers told apart.
func (p PostedBatchJob) Speakers() bool {
	m := p.Models
	return p.Transcription != nil && p.Transcription.IdentifySpeakers ||
		m.Prosody != nil && m.Prosody.IdentifySpeakers ||
		m.Language != nil && m.Language.IdentifySpeakers ||
		m.NER != nil && m.NER.IdentifySpeakers
}

// Names returns the names of the models, in the order of the wire's types.
func (m BatchModels) Names() []string {
	all := []struct {
		name  string
		wants bool
	}{
		{"face", m.Face != nil}, {"burst", m.Burst != nil}, {"prosody", m.Prosody != nil},
		{"language", m.Language != nil}, {"ner", m.NER != nil}, {"facemesh", m.Facemesh != nil},
	}
	var names []string
	for _, one := range all {
		if one.wants {
			names = append(names, one.name)
		}
	}
	return names
}
