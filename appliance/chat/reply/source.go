package reply

import (
	"math"

	"parley/appliance/chat/turn"
)

// source is where the words of a reply come from.
type source int

const (
	fromModel      source = iota // the language model, which may call a tool instead
	fromTool                     // the model calls a tool; if it writes words instead, those are not said
	fromAnswer                   // an approved answer
	fromFarewell                 // an approved answer, after which the assistant hangs up
	fromUnknown                  // what the config has the assistant say if no approved answer fits
	fromToolResult               // what a tool has answered, as it is
	fromNothing                  // nothing is said
)

// evidence is what is known before a reply in a chat with approved answers is chosen.
type evidence struct {
	only       bool // the language model may not speak
	unprompted bool // the assistant speaks by itself
	afterTool  bool // a tool has just answered
	// fits means that approved answers fit the user's words. score is the likelihood that they are right.
	fits  bool
	score float64
	// tools means that the model may call tools. routed means that a router has said which one the user asks
	// for, "" for none, and how much likelier than none it is, in natural logarithms. Models without a router
	// decide as they answer.
	tools, routed bool
	tool          string
	margin        float64
}

// certain is the score of an approved answer that is said before a model without a router is asked whether it
// calls a tool: asking a server takes a second, and the answer would be right in nine of ten cases.
const certain = 0.9

// choose decides who replies. A tool and an approved answer are compared by how likely they are right.
func (e evidence) choose() source {
	switch called := e.routed && e.tool != ""; {
	case e.unprompted && e.only:
		return fromNothing
	case e.unprompted, e.afterTool && !e.only:
		return fromModel
	case e.afterTool && called:
		return fromTool
	case e.afterTool:
		return fromToolResult
	case e.fits && called && e.tool == turn.HangUp:
		return fromFarewell
	case e.fits && called && toolLikelihood(e.margin) > e.score:
		return fromTool
	case e.fits && e.tools && !e.routed && e.score < certain:
		return fromTool
	case e.fits:
		return fromAnswer
	case !e.only:
		return fromModel
	case called, e.tools && !e.routed:
		return fromTool
	}
	return fromUnknown
}

// toolLikelihood returns how likely a tool is right that the router prefers to none by a margin.
func toolLikelihood(margin float64) float64 { return 1 / (1 + math.Exp(-margin)) }
