package contract

// ModelsPredictions are the predictions of each model for one file. A model that
// was not asked for, or does not apply to the file, is absent.
type ModelsPredictions struct {
	Face     *ModelPredictions[FacePrediction]     `json:"face,omitempty"`
	Burst    *ModelPredictions[BurstPrediction]    `json:"burst,omitempty"`
	Prosody  *ModelPredictions[ProsodyPrediction]  `json:"prosody,omitempty"`
	Language *ModelPredictions[LanguagePrediction] `json:"language,omitempty"`
	NER      *ModelPredictions[NERPrediction]      `json:"ner,omitempty"`
	Facemesh *ModelPredictions[FacemeshPrediction] `json:"facemesh,omitempty"`
}

// ModelPredictions are the predictions of one model for one file.
type ModelPredictions[P any] struct {
	// Metadata describes the transcript of a sound; absent for other media.
	Metadata           *TranscriptionMetadata `json:"metadata,omitempty"`
	GroupedPredictions []Grouped[P]           `json:"grouped_predictions"` // may be empty
}

// TranscriptionMetadata says how reliable a transcript is.
type TranscriptionMetadata struct {
	Confidence       float64 `json:"confidence"`                  // 0 to 1
	DetectedLanguage string  `json:"detected_language,omitempty"` // BCP 47
}

// UnknownGroup is the id of the only group where persons are not told apart.
const UnknownGroup = "unknown"

// Grouped are the predictions for one person.
type Grouped[P any] struct {
	ID          string `json:"id"`          // "face_0", "speaker_0"; "unknown" where persons are not told apart
	Predictions []P    `json:"predictions"` // may be empty
}

// TimeInterval is a stretch of a sound, in seconds from its beginning.
type TimeInterval struct {
	Begin float64 `json:"begin"`
	End   float64 `json:"end"`
}

// PositionInterval is a stretch of a text, in characters (Unicode code points)
// from its beginning; End is exclusive.
type PositionInterval struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

// BoundingBox is a rectangle in a picture, in pixels from its top left corner.
type BoundingBox struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// FacePrediction is a face in a picture, or in a frame of a video.
type FacePrediction struct {
	Frame        int         `json:"frame"` // of the video, from 0
	Time         float64     `json:"time"`  // of the frame, in seconds
	Prob         float64     `json:"prob"`  // that it is a face, 0 to 1
	Box          BoundingBox `json:"box"`
	Emotions     Scores      `json:"emotions"`
	FACS         Scores      `json:"facs,omitzero"`         // empty if asked for: nothing measures them; else absent
	Descriptions Scores      `json:"descriptions,omitzero"` // likewise
}

// FacemeshPrediction is a face without its place in the picture.
type FacemeshPrediction struct {
	Emotions Scores `json:"emotions"`
}

// ProsodyPrediction is how a voice sounds in a stretch of sound.
type ProsodyPrediction struct {
	Text              *string      `json:"text,omitempty"` // absent for windows, and without transcription
	Time              TimeInterval `json:"time"`
	Confidence        *float64     `json:"confidence,omitempty"`
	SpeakerConfidence *float64     `json:"speaker_confidence,omitempty"`
	Emotions          Scores       `json:"emotions"`
}

// LanguagePrediction is what a stretch of a text or transcript expresses.
type LanguagePrediction struct {
	Text              string           `json:"text"`
	Position          PositionInterval `json:"position"`
	Time              *TimeInterval    `json:"time,omitempty"` // absent for a text
	Confidence        *float64         `json:"confidence,omitempty"`
	SpeakerConfidence *float64         `json:"speaker_confidence,omitempty"`
	Emotions          Scores           `json:"emotions"`
	Sentiment         Scores           `json:"sentiment,omitzero"` // "1" to "9"; empty for a text not in English
	Toxicity          Scores           `json:"toxicity,omitzero"`  // empty: nothing measures it
}

// NERPrediction is a name, a place, a time or an amount of money in a text or
// transcript.
type NERPrediction struct {
	Entity            string           `json:"entity"`
	Position          PositionInterval `json:"position"`
	EntityConfidence  float64          `json:"entity_confidence"` // 0 to 1
	Support           float64          `json:"support"`           // how often it occurs in the file
	URI               string           `json:"uri"`               // empty: the box has no encyclopedia
	LinkWord          string           `json:"link_word"`         // the word that the emotions belong to
	Time              *TimeInterval    `json:"time,omitempty"`
	Confidence        *float64         `json:"confidence,omitempty"`
	SpeakerConfidence *float64         `json:"speaker_confidence,omitempty"`
	Emotions          Scores           `json:"emotions"`
}

// BurstPrediction is a sound of a voice without words, such as a laugh.
type BurstPrediction struct {
	Time         TimeInterval `json:"time"`
	Emotions     Scores       `json:"emotions"`
	Descriptions Scores       `json:"descriptions"`
}
