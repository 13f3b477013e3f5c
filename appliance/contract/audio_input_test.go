package contract

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// The fast path and the JSON parser return the same for every input.
func TestFastAudioInputParsesLikeJSON(t *testing.T) {
	for _, c := range []struct {
		data  string
		plain bool
	}{
		{`{"type":"audio_input","data":"AAEC"}`, true},
		{`{"data":"AAEC","type":"audio_input"}`, true},
		{`{"type": "audio_input", "data": "AAEC"}`, true},
		{" {\n\t\"type\" : \"audio_input\" ,\r\n \"data\":\"AA==\" } \n", true},
		{`{"type":"audio_input","data":""}`, true},
		{`{"type":"audio_input","data":"-_-_"}`, true},
		{`{"type":"audio_input","data":"AAEC","custom_session_id":"x"}`, false},
		{`{"type":"audio_input","data":"AA\/C"}`, false},
		{`{"type":"audio_input","data":"AAEC","data":"AAAA"}`, false},
		{`{"data":"AAEC","data":"AAAA","type":"audio_input"}`, false},
		{`{"type":"audio_input","type":"audio_input","data":"AAAA"}`, false},
		{`{"type":"audio_input","data":"?!"}`, false},
		{`{"type":"audio_input","data":"A"}`, false},
		{`{"type":"audio_input","data":null}`, false},
		{`{"type":"audio_input","data":5}`, false},
		{`{"type":"audio_input"}`, false},
		{`{"type":"audio_input","data":"AAEC"`, false},
		{`{"type":"audio_input","data":"AAEC"}}`, false},
		{`{"type":"audio_input","data":"AAEC"},`, false},
		{`{"type":"audio_input","data":"AAEC",}`, false},
		{`{"type":"audio_input" "data":"AAEC"}`, false},
		{`{"type":"user_input","data":"AAEC"}`, false},
		{"{\"type\":\"audio_input\",\"data\":\"AA\nEC\"}", false},
		{"{\"type\":\"audio_input\",\"data\":\"AAEC\xff\"}", false},
		{``, false}, {`{`, false}, {`{"`, false}, {`[]`, false},
	} {
		sameAsAll(t, []byte(c.data))
		if _, ok := fastAudioInput([]byte(c.data)); ok != c.plain {
			t.Errorf("%s: plain %v, want %v", c.data, ok, c.plain)
		}
	}
	pieces := rapid.SampledFrom([]string{"{", "}", ",", ":", " ", "\n", `"`, `"type"`, `"data"`, `"audio_input"`,
		`"AAEC"`, `"A=="`, "\\", "null", "é", "\xff", `"x"`})
	rapid.Check(t, func(rt *rapid.T) {
		data := "{"
		for _, piece := range rapid.SliceOfN(pieces, 0, 12).Draw(rt, "pieces") {
			data += piece
		}
		sameAsAll(rt, []byte(data))
	})
}

// sameAsAll sees that what is plain is read as it is read otherwise.
func sameAsAll(t interface{ Errorf(string, ...any) }, data []byte) {
	m, ok := fastAudioInput(data)
	if !ok {
		return
	}
	want, err := parseMessage(data, kinds())
	if err != nil || !reflect.DeepEqual(ClientMessage(m), want) {
		t.Errorf("%q is %+v, otherwise %+v, %v", data, m, want, err)
	}
}

func BenchmarkParseAudio(b *testing.B) {
	message, err := Marshal(AudioInput{Data: make([]byte, 640)})
	if err != nil {
		b.Fatal(err)
	}
	for name, parse := range map[string]func([]byte) (ClientMessage, error){
		"plain": ParseClientMessage,
		"all":   func(data []byte) (ClientMessage, error) { return parseMessage(data, kinds()) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := parse(message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
