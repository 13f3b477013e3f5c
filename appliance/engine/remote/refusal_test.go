package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"parley/appliance/engine"
)

// A withheld answer is a failure with its reason, in whichever form the server reports it, so that
// the user is not left in silence.
func TestARefusalIsAFailureWithItsReason(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		text   string
		why    string
	}{
		"content filter": {[]string{`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}, "",
			"content_filter"},
		"in the middle": {[]string{delta("It is "),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}, "It is ", "content_filter"},
		"Gemini": {[]string{`{"choices":[{"index":0,"delta":{},"finish_reason":"SAFETY"}]}`}, "",
			"SAFETY"},
		"refusal": {[]string{`{"choices":[{"index":0,"delta":{"refusal":"I can't "}}]}`,
			`{"choices":[{"index":0,"delta":{"refusal":"help."}}]}`, stop}, "", "I can't help."},
		"refusal, not a part": {[]string{`{"choices":[{"index":0,"message":{"content":null,"refusal":"I can't ` +
			`help."},"finish_reason":"stop"}]}`}, "", "I can't help."},
	} {
		h := func(w http.ResponseWriter, r *http.Request) { say(w, append(c.events, "[DONE]")...) }
		custom, _ := customServer(t, h)
		models := map[string]engine.LanguageModel{"OpenAI": serve(t, h), "custom": custom}
		if name == "refusal, not a part" {
			delete(models, "OpenAI") // streamed
		}
		for which, m := range models {
			text, _, _, err := reply(t.Context(), m, hello)
			if e, ok := errors.AsType[*Error](err); !ok || e.Kind != BadAnswer || !strings.Contains(e.Why, c.why) ||
				text != c.text {
				t.Errorf("%s, %s: said %q, %v", name, which, text, err)
			}
		}
	}
}

// Some servers still call tools in the form from before a reply could hold several calls.
func TestACallOfTheOldFormIsOne(t *testing.T) {
	events := []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"function_call":{"name":"book_taxi",` +
			`"arguments":""}}}]}`,
		`{"choices":[{"index":0,"delta":{"function_call":{"arguments":"{\"pers"}}}]}`,
		`{"choices":[{"index":0,"delta":{"function_call":{"arguments":"ons\":2}"}}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"function_call"}]}`,
	}
	custom, _ := customServer(t, func(w http.ResponseWriter, r *http.Request) { say(w, append(events, "[DONE]")...) })
	whole, _ := customServer(t, raw("application/json",
		`{"choices":[{"message":{"function_call":{"name":"book_taxi","arguments":"{\"persons\":2}"}},`+
			`"finish_reason":"function_call"}]}`))
	p := hello
	p.Tools = []engine.Tool{taxi}
	for name, m := range map[string]engine.LanguageModel{"OpenAI": streaming(t, nil, events...), "custom": custom,
		"custom, not streamed": whole} {
		text, _, calls, err := reply(t.Context(), m, p)
		if err != nil || text != "" || len(calls) != 1 || calls[0].Name != "book_taxi" ||
			calls[0].Arguments != `{"persons":2}` {
			t.Errorf("%s: said %q, called %+v, error %v", name, text, calls, err)
		}
	}
}

// Lines end with CR, LF or both, also mixed and cut anywhere, and an event is processed as soon as
// its last line has arrived.
func TestLinesOfAStreamEndAsTheStandardHasIt(t *testing.T) {
	for _, loose := range []bool{false, true} {
		for _, end := range []string{"\r", "\n", "\r\n"} {
			for _, other := range []string{"\r", "\n", "\r\n"} {
				if end+other == "\r\n" || other+end == "\r\n" {
					continue // CR and LF are one line end
				}
				stream := ": hi" + other + `data: {"a":1}` + end + other + "event: x" + other + `data: {"b":` + end +
					"data: 2}" + other + end + "data: [DONE]" + end + end
				for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader {
					return r
				}, iotest.OneByteReader, iotest.DataErrReader} {
					s := newEventStream(read(strings.NewReader(stream)), loose)
					var got []string
					for {
						data, err := s.next()
						if err != nil {
							break
						}
						got = append(got, string(data))
					}
					if want := []string{`{"a":1}`, "{\"b\":\n2}"}; fmt.Sprint(got) != fmt.Sprint(want) || !s.marked {
						t.Errorf("ends %q and %q, loose %v: %q", end, other, loose, got)
					}
				}
			}
		}
	}
	from, to := io.Pipe()
	go func() { _, _ = io.WriteString(to, "data: {\"a\":1}\r\r") }()
	if data, err := newEventStream(from, false).next(); err != nil || string(data) != `{"a":1}` {
		t.Errorf("while the server is silent: %q, %v", data, err)
	}
	_ = to.Close()
}
