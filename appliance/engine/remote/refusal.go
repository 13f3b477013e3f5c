package remote

import (
	"fmt"
	"slices"
	"strings"
)

// A refusal is how a server says that it gives no answer, or not all of one. What a
// model says of it is for who wrote the prompt: the user hears the box's apology.
type refusal struct {
	present bool
	words   string // the model's
	reason  string // why the answer ended; empty: as every other does
}

// refusalReasons are the reasons that servers give for an answer that they did not
// finish: of OpenAI and Azure, Anthropic, Gemini, OpenRouter and DeepSeek.
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

// takeMessage notes what an event says of a refusal.
func (r *refusal) add(words, reason string) {
	if len(r.words) < maxErrorBytes {
		r.words += words
	}
	if slices.Contains(refusalReasons, strings.ToLower(reason)) {
		r.reason = reason
	}
	r.present = r.words != "" || r.reason != ""
}

// Error names the reason, and what the model said.
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

// publicDetail is what the developer of a custom language model is told.
func (r *refusal) publicDetail() string {
	if r.reason == "" {
		return "It refused to answer."
	}
	return fmt.Sprintf("It ended the answer with finish_reason %q.", strings.ToLower(r.reason))
}
