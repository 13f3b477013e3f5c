package bench

import (
	"fmt"
	"regexp"
	"strings"

	"parley/appliance/engine"
)

// toolCounts runs requests on a model and counts what it did.
type toolCounts struct {
	model    engine.LanguageModel
	announce func(string, ...any)

	requests, right, wrong, missed int // routes
	routes                         []float64
	complete, completeRight        int // requests that say all arguments; the right calls among them
	lacking, asked, invented       int // requests that lack one; the model asked for it, or made it up
	undoable, claimed              int // requests that no tool can do; claimed to be done
	pairs, secondRight             int // requests for two tools, after the first result; right second calls
	finished, repeated             int // requests for one tool, after its result; further calls
	noTool, falseCalls             int // requests for no tool; calls all the same
	with, without                  []float64
}

// countRoute counts a decision of the router.
func (t *toolCounts) countRoute(request toolRequest, tool string) {
	switch {
	case tool == request.Call:
		t.right++
	case tool != "":
		t.wrong++
		t.announce("routed to %s instead of %q: %q", tool, request.Call, request.lastLine())
	default:
		t.missed++
		t.announce("not routed to %s: %q", request.Call, request.lastLine())
	}
}

// claimPattern matches an answer which says that something was done, or is about to be.
var claimPattern = regexp.MustCompile(`(?i)\b(I(['’]ve| have| just)( \w+)? \w+(ed|t|ut|ade|one)\b|(has|have) been ` +
	`\w+(ed|t)\b|I(['’]ll| will) (\w+ )?(book|cancel|send|turn|switch|start|order|move|change|transfer|write|sell|` +
	`email)|is now (on|off|set|booked|cancelled|changed))`)

// countCall counts what the model did: call, or where that is nil, text.
func (t *toolCounts) countCall(request toolRequest, call *engine.ToolCall, text string) {
	asks := call == nil && strings.ContainsAny(text, "?？؟")
	switch {
	case request.Call == "":
		t.noTool++
		if call != nil {
			t.falseCalls++
			t.announce("called %s %s for nothing: %q", call.Name, call.Arguments, request.lastLine())
		}
	case request.Missing != "":
		t.lacking++
		if asks {
			t.asked++
		}
		if call != nil {
			t.invented++
			t.announce("called %s %s, though the user did not say %s: %q", call.Name, call.Arguments, request.Missing,
				request.lastLine())
		} else if !asks {
			t.announce("did not ask for %s: %q: %q", request.Missing, request.lastLine(), text)
		}
	default:
		t.complete++
		if call != nil && call.Name == request.Call && request.argumentsMatch(call.Arguments) {
			t.completeRight++
		} else if call != nil {
			t.announce("called %s %s instead of %s %v: %q", call.Name, call.Arguments, request.Call,
				request.Arguments, request.lastLine())
		} else {
			t.announce("said %q instead of calling %s: %q", text, request.Call, request.lastLine())
		}
	}
	if request.Undoable {
		t.undoable++
		if call == nil && claimPattern.MatchString(text) {
			t.claimed++
			t.announce("claimed %q: %q", text, request.lastLine())
		}
	}
}

// report adds the counts of one half as figures.
func (t *toolCounts) report(r *Report, half string) {
	percent := func(name string, n, of int, note string) {
		if of > 0 {
			r.figure(name+", "+half, 100*float64(n)/float64(of), "%", fmt.Sprintf("%d of %d: %s", n, of, note))
		}
	}
	if len(t.routes) > 0 {
		percent("routes right", t.right, t.requests, "the tool that the user asks for, or none")
		percent("routes false", t.wrong, t.requests, "another tool, or one that was not asked for")
		percent("routes missed", t.missed, t.requests, "no tool, though the user asks for one")
		r.figure("route, "+half, median(t.routes), "ms", "all but the last two words prefilled")
	}
	percent("false calls", t.falseCalls, t.noTool, "requests for no tool, answered with a call")
	percent("calls right", t.completeRight, t.complete, "the tool and its arguments, if the user said them all")
	percent("missing asked for", t.asked, t.lacking, "arguments that the user did not say, asked for")
	percent("missing invented", t.invented, t.lacking, "arguments that the user did not say, made up")
	percent("second calls right", t.secondRight, t.pairs,
		"of two requests at once, the second after the result of the first")
	percent("repeated calls", t.repeated, t.finished, "another call after the result of the requested one")
	percent("claims", t.claimed, t.undoable, "requests that no tool can do, said to be done")
	if len(t.with) > 0 {
		var ratios, later []float64
		for i := range t.with {
			ratios, later = append(ratios, t.with[i]/t.without[i]), append(later, t.with[i]-t.without[i])
		}
		r.paired("first words, "+half, median(t.with), "ms", median(t.without), median(ratios),
			"of answers in words, compared with the same without tools")
		r.figure("first words later, "+half, median(later), "ms", "the median of the differences")
	}
}
