package contract

import (
	"maps"
	"slices"
	"strings"
)

// OpenAIError is the body of every error below /v1.
type OpenAIError struct {
	Error OpenAIProblem `json:"error"`
}

// OpenAIProblem says what is wrong with a request below /v1.
type OpenAIProblem struct {
	Message string `json:"message"`
	// The kind of the error: invalid_request_error, authentication_error, rate_limit_error or server_error.
	Type string `json:"type"`
	// The field of the request that is wrong; null if it is none.
	Param *string `json:"param"`
	Code  *string `json:"code"`
}

// OpenAIModel is a model below /v1.
type OpenAIModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`  // model
	Created int64  `json:"created"` // Unix time: when the box was released
	OwnedBy string `json:"owned_by"`
}

// OpenAIModels lists the models below /v1.
type OpenAIModels struct {
	Object string        `json:"object"` // list
	Data   []OpenAIModel `json:"data"`
}

// MaxOpenAIModelChars bounds the name of a model.
const MaxOpenAIModelChars = 200

// refuseOthers notes the fields that are not known. OpenAI refuses them too, so a misspelled field is not silently
// without effect.
func (o object) refuseOthers(known ...string) {
	if o.shape != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if !slices.Contains(known, name) && !o.isNull(name) {
			o.note(name, "wrong_value", "unrecognized; known are "+strings.Join(known, ", "))
		}
	}
}

// refuse notes a field that the box cannot do, unless its value asks for nothing.
func (o object) refuse(name, why string, nothing ...string) {
	if raw, ok := o.get(name); ok && !slices.Contains(nothing, strings.Join(strings.Fields(string(raw)), "")) {
		o.note(name, "wrong_value", excerpt(raw)+" is not supported: "+why)
	}
}
