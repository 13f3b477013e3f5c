package contract

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A request that names no models asks for all, and null turns transcription off.
func TestAnEmptyBatchRequestAsksForEverything(t *testing.T) {
	for _, body := range []string{"", "{}", `{"models":{}}`, `{"models":null,"urls":null}`} {
		p, err := ParsePostedBatchJob([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Models.Names(), " "); got != "face burst prosody language ner facemesh" {
			t.Errorf("%q asks for %s", body, got)
		}
		if p.Transcription == nil || p.Models.Face.ProbThreshold != 0.99 ||
			p.Models.Prosody.Granularity != ByUtterance {
			t.Errorf("%q has not the defaults: %+v", body, p)
		}
	}
	p, err := ParsePostedBatchJob([]byte(`{"models":{"face":{},"language":null},"transcription":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Transcription != nil || p.Models.Language != nil || p.Models.Face.FPSPred != 3 {
		t.Errorf("parsed %+v", p)
	}
}

// A stored request means what the posted one meant.
func TestABatchRequestSurvivesStorage(t *testing.T) {
	for _, body := range []string{
		"{}",
		`{"transcription":null}`,
		`{"models":{"prosody":{"window":{"length":2}}},"transcription":{"language":"en"},"text":["a"]}`,
		`{"models":{"face":{"facs":{},"min_face_size":0,"fps_pred":0.5},"burst":{}},"urls":["https://a.example/x"]}`,
	} {
		posted, err := ParsePostedBatchJob([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(posted)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParsePostedBatchJob(stored)
		if err != nil || !reflect.DeepEqual(posted, again) {
			t.Errorf("%s became %s: %v", body, stored, err)
		}
	}
}

func TestWrongBatchRequestsAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"urls":["ftp://a.example/x"]}`:                    "urls[0]",
		`{"urls":["https://me:secret@a.example"]}`:          "urls[0]",
		`{"urls":"https://a.example"}`:                      "urls",
		`{"text":[7]}`:                                      "text[0]",
		`{"models":{"face":{"prob_threshold":1.5}}}`:        "prob_threshold",
		`{"models":{"prosody":{"granularity":"syllable"}}}`: "granularity",
		`{"transcription":{"language":"tlh"}}`:              "language",
		`{"callback_url":"gopher://a.example"}`:             "callback_url",
	} {
		if _, err := ParsePostedBatchJob([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
