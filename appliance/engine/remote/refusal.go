package remote

import (
	"fmt"
	"slices"
	"strings"
)

// A refusal is a server's statement that it gives no answer, or not all of it. The model's own
// words are for the author of the prompt; the user hears the box's apology.
type refusal struct {
	present bool
	words   string // from the model
	reason  string // the finish reason; empty if it is an ordinary one
}

// refusalReasons are finish reasons of unfinished answers, of OpenAI and Azure, Anthropic, Gemini,
// OpenRouter and DeepSeek.
var refusalReasons = []string{
	"blocked",
	"blocklist",
	"content_filter",
	"content_filtered",
	"error",
	"guardrail_intervened",
	"insufficient_system_resource",
	"prohibited_content",
	"recitation",
	"refusal",
	"safety",
	"spii",
}

// add records the refusal in an event.
func (r *refusal) add(words, reason string) {
	if len(r.words) < maxErrorBytes {
		r.words += words
	}
	if slices.Contains(refusalReasons, strings.ToLower(reason)) {
		r.reason = reason
	}
	r.present = r.words != "" || r.reason != ""
}

// Error returns the reason and the model's words.
func (r *refusal) Error() string {
	why := "the model refused to answer"
	if r.reason != "" {
		why = fmt.Sprintf("the server ended the answer with finish_reason %q", clip(r.reason))
	}
	if words := clip(r.words); words != "" {
		why += ": " + words
	}
	return why
}

// publicDetail returns the message for the developer of a custom language model.
func (r *refusal) publicDetail() string {
	if r.reason == "" {
		return "It refused to answer."
	}
	return fmt.Sprintf("It ended the answer with finish_reason %q.", strings.ToLower(r.reason))
}
