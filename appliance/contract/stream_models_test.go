package contract

import (
	"errors"
	"strings"
	"testing"
)

func TestAPayloadOfTheStreamIsParsed(t *testing.T) {
	p, err := ParseStreamPayload([]byte(`{"data":"Hello.","raw_text":true,"payload_id":"7","stream_window_ms":1000,
		"models":{"language":{"granularity":"passage","sentiment":{}},"face":null,"ner":{}}}`))
	if err != nil || p.Data != "Hello." || p.PayloadID != "7" || p.StreamWindowMS != 1000 || p.Models == nil ||
		strings.Join(p.Models.Names(), " ") != "language" || p.Models.Language.Granularity != ByTurn ||
		p.Models.Language.Sentiment == nil {
		t.Errorf("%+v, %v", p, err)
	}
	for _, data := range []string{"AAEC", "AAEC==", "data:audio/wav;base64,AAEC", `AA\u0045C`} {
		p, err = ParseStreamPayload([]byte(`{"data":"` + data + `","models":{}}`))
		if err != nil || string(p.Medium) != "\x00\x01\x02" || p.Models != nil {
			t.Errorf("%s: %q, %v", data, p.Medium, err)
		}
	}
	for _, message := range []string{`{"job_details":true}`, `{"reset_stream":true,"data":null}`} {
		if p, err = ParseStreamPayload([]byte(message)); err != nil || p.HasData {
			t.Errorf("%s: %+v, %v", message, p, err)
		}
	}
}

func TestErrorsNameWhatIsWrongWithAPayload(t *testing.T) {
	for message, want := range map[string]StreamFault{
		``:                   {StreamNotJSON, "The body is empty"},
		`{"data":`:           {StreamNotJSON, "Not valid JSON"},
		`{"data":"` + "\xff": {StreamNotJSON, ""},
		`[]`:                 {StreamWrongShape, "expected an object"},
		`{}`:                 {StreamWrongShape, "data: missing"},
		`{"data":7}`:         {StreamWrongShape, "data: expected a string, got 7"},
		`{"data":"AAEC","models":{"face":{"prob_threshold":7}}}`: {StreamWrongShape, "models.face.prob_threshold: 7"},
		`{"data":"AAEC","stream_window_ms":1}`:                   {StreamWrongShape, "allowed: 500 to 10000"},
		`{"data":"Hello there!"}`:                                {StreamNotBase64, `"raw_text": true`},
		`{"data":""}`:                                            {StreamUnreadable, "empty"},
		`{"data":"[[[0.1,0.2]]]"}`:                               {StreamUnreadable, "face mesh"},
		`{"raw_text":true,"data":"` + strings.Repeat("ä", MaxStreamTextChars+1) + `"}`: {StreamTextLong,
			"the text has 10001 characters; at most 10000 are allowed"},
	} {
		_, err := ParseStreamPayload([]byte(message))
		f, ok := errors.AsType[StreamFault](err)
		if !ok || f.Code != want.Code || !strings.Contains(f.Why, want.Why) {
			t.Errorf("%.40s: %v; want %v", message, err, want)
		}
	}
	p, err := ParseStreamPayload([]byte(`{"data":"!","payload_id":"7","job_details":true}`))
	if err == nil || p.PayloadID != "7" || !p.JobDetails {
		t.Errorf("%+v, %v: the answer to a faulty payload needs its id", p, err)
	}
}
