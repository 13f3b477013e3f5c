package contract

// A StreamMessage is a message of the socket that analyses media. None has a type on the
// wire: an error has the field error, a warning that is the whole answer the field warning.
type StreamMessage interface{ StreamMessageName() string }

// StreamMessages lists the messages of the socket that analyses media.
func StreamMessages() []StreamMessage {
	return []StreamMessage{StreamModelPredictions{}, StreamErrorMessage{}}
}

// StreamJobDetails names the stream.
type StreamJobDetails struct {
	JobID string `json:"job_id"`
}

// StreamErrorMessage is the answer to a payload that cannot be analysed.
type StreamErrorMessage struct {
	Error      string            `json:"error"`
	Code       StreamCode        `json:"code"`
	PayloadID  string            `json:"payload_id,omitempty"`
	JobDetails *StreamJobDetails `json:"job_details,omitempty"`
}

// StreamMessageName names the message in descriptions.
func (StreamErrorMessage) StreamMessageName() string { return "stream_error" }

// StreamModelPredictions is the answer to a payload: the predictions of each model that was
// asked for.
type StreamModelPredictions struct {
	PayloadID  string                           `json:"payload_id,omitempty"`
	JobDetails *StreamJobDetails                `json:"job_details,omitempty"`
	Burst      *StreamModel[StreamBurst]        `json:"burst,omitempty"`
	Face       *StreamModel[StreamFace]         `json:"face,omitempty"`
	Facemesh   *StreamModel[FacemeshPrediction] `json:"facemesh,omitempty"`
	Language   *StreamModel[StreamLanguage]     `json:"language,omitempty"`
	Prosody    *StreamModel[StreamProsody]      `json:"prosody,omitempty"`
	// Warning and Code repeat the first warning of a model if no model has predictions.
	Warning string     `json:"warning,omitempty"`
	Code    StreamCode `json:"code,omitempty"`
}

// StreamMessageName names the message in descriptions.
func (StreamModelPredictions) StreamMessageName() string { return "stream_predictions" }

// StreamModel are the predictions of one model, or why there are none.
type StreamModel[P any] struct {
	Predictions []P        `json:"predictions"` // may be empty
	Warning     string     `json:"warning,omitempty"`
	Error       string     `json:"error,omitempty"` // the model does not apply to the medium
	Code        StreamCode `json:"code,omitempty"`  // of the warning or the error
}

// StreamFace is a face in a picture or a video.
type StreamFace struct {
	Frame        int         `json:"frame"`
	Time         float64     `json:"time"` // seconds
	BBox         BoundingBox `json:"bbox"`
	Prob         float64     `json:"prob"`
	FaceID       string      `json:"face_id"` // "face_0"; "unknown" unless faces are identified
	Emotions     Scores      `json:"emotions"`
	FACS         Scores      `json:"facs,omitzero"`         // empty if asked for: nothing measures them; else absent
	Descriptions Scores      `json:"descriptions,omitzero"` // likewise
}

// StreamProsody is how a voice sounds in a stretch of sound.
type StreamProsody struct {
	Time     TimeInterval `json:"time"`
	Emotions Scores       `json:"emotions"`
}

// StreamBurst is a sound of a voice without words.
type StreamBurst struct {
	Time     TimeInterval `json:"time"`
	Emotions Scores       `json:"emotions"`
}

// StreamLanguage is what a stretch of a text expresses.
type StreamLanguage struct {
	Text      string           `json:"text"`
	Position  PositionInterval `json:"position"`
	Emotions  Scores           `json:"emotions"`
	Sentiment Scores           `json:"sentiment,omitzero"` // as in LanguagePrediction
	Toxicity  Scores           `json:"toxicity,omitzero"`  // likewise
}
