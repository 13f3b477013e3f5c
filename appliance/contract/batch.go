package contract

import "encoding/json"

// JobState is the state of a batch job.
type JobState string

// The states of a job, in the order in which it passes them; the last two are
// final.
const (
	JobQueued     JobState = "QUEUED"
	JobInProgress JobState = "IN_PROGRESS"
	JobCompleted  JobState = "COMPLETED"
	JobFailed     JobState = "FAILED"
)

// JobStates returns the states of a job.
func JobStates() []JobState { return []JobState{JobQueued, JobInProgress, JobCompleted, JobFailed} }

// JobType is the type of every job that the box has.
const JobType = "INFERENCE"

// JobID is the answer to a request for a job.
type JobID struct {
	JobID string `json:"job_id"`
}

// BatchJob is a job as lists and details show it.
type BatchJob struct {
	Type    string         `json:"type"` // JobType
	JobID   string         `json:"job_id"`
	Request BatchRequest   `json:"request"`
	State   StateInference `json:"state"`
}

// BatchRequest is what a job was asked to do. The options that it left out have
// their default values.
type BatchRequest struct {
	PostedBatchJob
	Files []BatchFile `json:"files"` // may be empty
}

// BatchFile is a file that was uploaded with a request.
type BatchFile struct {
	Filename    string `json:"filename,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	MD5Sum      string `json:"md5sum"` // in hex
}

// StateInference is how far a job is. Times are Unix milliseconds.
type StateInference struct {
	Status             JobState `json:"status"`
	CreatedTimestampMS int64    `json:"created_timestamp_ms"`
	// StartedTimestampMS is 0 and absent while the job is queued.
	StartedTimestampMS int64 `json:"started_timestamp_ms,omitempty"`
	// EndedTimestampMS is 0 and absent until the job ends.
	EndedTimestampMS int64 `json:"ended_timestamp_ms,omitempty"`
	// How many sources the job has, and how many of them are analysed; absent unless
	// the details of a job that is IN_PROGRESS are read. An extension of the box.
	NumSources     *int64 `json:"num_sources,omitempty"`
	NumSourcesDone *int64 `json:"num_sources_done,omitempty"`
	// The two numbers are absent unless the job is COMPLETED.
	NumPredictions *int64 `json:"num_predictions,omitempty"`
	NumErrors      *int64 `json:"num_errors,omitempty"`
	// Message is why the job is FAILED, else absent.
	Message *string `json:"message,omitempty"`
}

// SourceType is the kind of a source of a job.
type SourceType string

// The kinds of sources.
const (
	SourceURL  SourceType = "url"
	SourceFile SourceType = "file"
	SourceText SourceType = "text"
)

// BatchSource is what a result was made from. A file has the fields of BatchFile.
type BatchSource struct {
	Type SourceType
	URL  string    // of SourceURL
	File BatchFile // of SourceFile
}

// MarshalJSON writes the fields that belong to the type.
func (s BatchSource) MarshalJSON() ([]byte, error) {
	switch s.Type {
	case SourceURL:
		return json.Marshal(struct {
			Type SourceType `json:"type"`
			URL  string     `json:"url"`
		}{s.Type, s.URL})
	case SourceFile:
		return json.Marshal(struct {
			Type SourceType `json:"type"`
			BatchFile
		}{s.Type, s.File})
	}
	return json.Marshal(struct {
		Type SourceType `json:"type"`
	}{s.Type})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *BatchSource) UnmarshalJSON(data []byte) error {
	var all struct {
		Type SourceType `json:"type"`
		URL  string     `json:"url"`
		BatchFile
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*s = BatchSource{
		Type: all.Type,
		URL:  all.URL,
		File: all.BatchFile,
	}
	return nil
}

// SourceResult is the result for one source of a job.
type SourceResult struct {
	Source  BatchSource       `json:"source"`
	Results *InferenceResults `json:"results,omitempty"`
	// Error is why nothing of the source could be analysed, such as a URL that
	// cannot be fetched.
	Error string `json:"error,omitempty"`
}

// InferenceResults are the predictions for the files of one source, more than one
// for an archive. Both lists are always there.
type InferenceResults struct {
	Predictions []InferencePrediction `json:"predictions"`
	Errors      []BatchError          `json:"errors"`
}

// BatchError is why a file, or one model of it, has no predictions.
type BatchError struct {
	Message string `json:"message"`
	File    string `json:"file"`
}

// InferencePrediction are the predictions for one file.
type InferencePrediction struct {
	File   string            `json:"file"`
	Models ModelsPredictions `json:"models"`
}

// JobCallback is the body that the box posts to the callback URL of a job.
type JobCallback struct {
	JobID  string   `json:"job_id"`
	Status JobState `json:"status"`
	// Predictions is null for a failed job, and where they are too long for a
	// callback.
	Predictions json.RawMessage `json:"predictions"`
	// Error is why the job failed, or where the predictions are.
	Error string `json:"error,omitempty"`
}
