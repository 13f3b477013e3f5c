package batch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/analysis"
	"parley/appliance/contract"
)

// artifacts returns the members of the archive of a job.
func (b *testBox) artifacts(jobID string) map[string]string {
	b.t.Helper()
	f, err := b.Artifacts(b.t.Context(), b.account, jobID)
	b.must(err)
	defer f.Close()
	info, err := f.Stat()
	b.must(err)
	z, err := zip.NewReader(f, info.Size())
	b.must(err)
	members := map[string]string{}
	for _, m := range z.File {
		r, err := m.Open()
		b.must(err)
		text, err := io.ReadAll(r)
		b.must(err)
		if _, ok := members[m.Name]; ok {
			b.t.Errorf("%s is twice in the archive", m.Name)
		}
		members[m.Name] = string(text)
	}
	return members
}

// score returns one score of a feeling.
func score(v float64) contract.Scores {
	return contract.ScoresOf(contract.NamedScore{Name: "Joy", Score: v})
}

// everyModel predicts with every model, in a way that shows where each cell comes from.
func everyModel(_ context.Context, _ analysis.Source, r analysis.Request) (analysis.Report, error) {
	text, half := "=HYPERLINK(\"x\")\nsaid \"so\"", 0.5
	for frame := range 2 {
		if err := r.SaveFace("face_0", frame/2, []byte{0xff, byte(frame)}); err != nil {
			return analysis.Report{}, err
		}
	}
	return analysis.Report{Models: contract.ModelsPredictions{
		Face: of(contract.FacePrediction{
			Frame:    7,
			Time:     0.25,
			Prob:     0.999,
			Box:      contract.BoundingBox{X: 1, Y: 2.5, W: 3, H: 4},
			Emotions: score(0.1),
		}),
		Prosody: of(contract.ProsodyPrediction{
			Text:       &text,
			Time:       contract.TimeInterval{Begin: 1, End: 2},
			Confidence: &half,
			Emotions:   score(0.2),
		}),
		Language: of(contract.LanguagePrediction{
			Text:      "-1",
			Position:  contract.PositionInterval{Begin: 3, End: 5},
			Emotions:  score(0.3),
			Sentiment: contract.ScoresOf(contract.NamedScore{Name: "9", Score: 0.00001}),
		}),
		NER: of(contract.NERPrediction{
			Entity:           "@Köln",
			EntityConfidence: 0.75,
			Support:          2,
			LinkWord:         "Köln",
			Emotions:         score(0.4),
		}),
		Facemesh: of(contract.FacemeshPrediction{Emotions: score(0.5)}),
		Burst:    of[contract.BurstPrediction](),
	}}, nil
}

func of[P any](all ...P) *contract.ModelPredictions[P] {
	m := &contract.ModelPredictions[P]{GroupedPredictions: []contract.Grouped[P]{}}
	if len(all) > 0 {
		m.GroupedPredictions = append(m.GroupedPredictions, contract.Grouped[P]{ID: "face_0", Predictions: all})
	}
	return m
}

func TestArtifactsHaveATableForEachModelAndTheFaces(t *testing.T) {
	b := newBox(t)
	b.start(everyModel)
	id := b.submit(`{"models":{"face":{"save_faces":true}}}`, "../Ä b?.mp4=x")
	if s := b.wait(id).State; *s.NumPredictions != 5 || *s.NumErrors != 0 {
		t.Errorf("ended as %+v", s)
	}
	folder := "Ä b_.mp4"
	inFile := folder + "/csv/_/Ä b_.mp4/"
	want := map[string]string{
		inFile + "face.csv": "id,frame,time,prob,box_x,box_y,box_w,box_h,Joy\r\n" +
			"face_0,7,0.25,0.999,1,2.5,3,4,0.1\r\n",
		inFile + "prosody.csv": "id,text,time_begin,time_end,confidence,speaker_confidence,Joy\r\n" +
			"face_0,\"'=HYPERLINK(\"\"x\"\")\r\nsaid \"\"so\"\"\",1,2,0.5,,0.2\r\n",
		inFile + "language.csv": "id,text,position_begin,position_end,time_begin,time_end,confidence," +
			"speaker_confidence,Joy,sentiment_9\r\nface_0,'-1,3,5,,,,,0.3,0.00001\r\n",
		inFile + "ner.csv": "id,entity,position_begin,position_end,entity_confidence,support,uri,link_word," +
			"time_begin,time_end,confidence,speaker_confidence,Joy\r\nface_0,'@Köln,0,0,0.75,2,,Köln,,,,,0.4\r\n",
		inFile + "facemesh.csv": "id,Joy\r\nface_0,0.5\r\n",
		inFile + "burst.csv":    "id,time_begin,time_end\r\n",
	}
	faces := folder + "/faces/_/Ä b_.mp4/"
	want[faces+"face_0-000000.jpg"], want[faces+"face_0-000000-2.jpg"] = "\xff\x00", "\xff\x01"
	got := b.artifacts(id)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: got %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the archive has %v", got)
	}
	if _, err := os.Stat(b.folder(id).allFaces()); !os.IsNotExist(err) {
		t.Errorf("the faces are on the disk twice: %v", err)
	}
	b.must(os.Remove(b.folder(id).artifacts())) // as if the disk had been full
	if again := b.artifacts(id); again[inFile+"face.csv"] != want[inFile+"face.csv"] {
		t.Errorf("again it has %v", again)
	}
}

// A result is written piece by piece, and equals what the contract's types encode to.
func TestResultIsTheJSONOfTheContract(t *testing.T) {
	b := newBox(t)
	b.start(everyModel)
	id := b.submit(`{"models":{"face":{"save_faces":true}}}`, "a=x", "b=x")
	b.wait(id)
	var want []contract.SourceResult
	sources, err := b.records.BatchSources(t.Context(), id)
	b.must(err)
	for _, from := range sources {
		report, err := everyModel(t.Context(), analysis.Source{}, analysis.Request{
			SaveFace: func(string, int, []byte) error { return nil },
		})
		b.must(err)
		want = append(want, contract.SourceResult{
			Source: wireSource(from),
			Results: &contract.InferenceResults{
				Predictions: []contract.InferencePrediction{{File: from.Name, Models: report.Models}},
				Errors:      []contract.BatchError{},
			},
		})
	}
	text, err := contract.Marshal(want)
	b.must(err)
	r, err := b.Predictions(t.Context(), b.account, id)
	b.must(err)
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != string(text) {
		t.Errorf("got\n%s, %v, want\n%s", got, err, text)
	}
}

func TestPredictionWithoutAValueIsLeftOut(t *testing.T) {
	b := newBox(t)
	b.start(func(context.Context, analysis.Source, analysis.Request) (analysis.Report, error) {
		return analysis.Report{Models: contract.ModelsPredictions{Facemesh: of(
			contract.FacemeshPrediction{Emotions: score(math.NaN())}, contract.FacemeshPrediction{Emotions: score(1)},
		)}}, nil
	})
	id := b.submit(`{"text":["a"]}`)
	if s := b.wait(id).State; s.Status != contract.JobCompleted || *s.NumPredictions != 1 || *s.NumErrors != 1 {
		t.Errorf("ended as %+v", s)
	}
	if r := b.predictions(id)[0].Results; r.Predictions[0].Models.Facemesh.GroupedPredictions[0].Predictions[0].
		Emotions.Named()[0].Score != 1 || r.Errors[0].Message != internalFault {
		t.Errorf("got %+v", r)
	}
}

func TestNamesInArtifactsAreSafeAndUnique(t *testing.T) {
	u := uniqueNames{}
	var got []string
	for _, name := range []string{"a.mp4", "A.mp4", "a.mp4", "../../x", "..", "a/b", "a\\b:c\x00", "", "c. ",
		strings.Repeat("ü", 300) + ".jpeg"} {
		got = append(got, u.next(name))
	}
	want := []string{"a.mp4", "A.mp4_2", "a.mp4_3", "_/_/x", "_", "a/b", "a_b_c_", "__2", "c",
		strings.Repeat("ü", 55) + ".jpeg"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each member of an archive is analysed and written before the next one, and leaves the
// disk.
func TestArchiveIsAnalysedMemberByMember(t *testing.T) {
	const members = 300
	b := newBox(t)
	most := 0
	b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		scratch := filepath.Dir(filepath.Dir(s.Path)) // each member has a folder
		if entries, err := os.ReadDir(scratch); err == nil && filepath.Base(scratch) == ".members" {
			most = max(most, len(entries))
		}
		return words(ctx, s, r)
	})
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for n := range members {
		text := fmt.Sprintf("word%d", n)
		if n == 7 {
			text = "broken"
		}
		b.must(w.WriteHeader(&tar.Header{Name: fmt.Sprintf("dir/%d.txt", n), Size: int64(len(text)), Mode: 0o600}))
		_, err := io.WriteString(w, text)
		b.must(err)
	}
	b.must(w.WriteHeader(&tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}))
	b.must(w.Close())
	id := b.submit(`{}`, "set.tar="+archive.String(), "after.txt=one")
	if s := b.wait(id).State; *s.NumPredictions != members || *s.NumErrors != 2 {
		t.Errorf("ended as %+v", s)
	}
	r := b.predictions(id)
	if len(r) != 2 || len(r[0].Results.Predictions) != members-1 || r[0].Results.Predictions[9].File != "dir/10.txt" ||
		r[0].Source.File.Filename != "set.tar" {
		t.Fatalf("got %d results", len(r))
	}
	for n, file := range []string{"dir/7.txt", "link"} {
		if r[0].Results.Errors[n].File != file {
			t.Errorf("error %d is %+v", n, r[0].Results.Errors[n])
		}
	}
	if most != 1 {
		t.Errorf("%d members were on the disk at once", most)
	}
	got := b.artifacts(id)
	rows, err := csv.NewReader(strings.NewReader(got["set.tar/csv/dir/10.txt/language.csv"])).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][1] != "word10" || len(got) != members {
		t.Errorf("%d members, rows %v, %v", len(got), rows, err)
	}
}
