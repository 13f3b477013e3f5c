package analysis

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/expression/face"
)

// The benchmarks report the most memory that the predictions of the longest text and of the most faces of a file take
// while they are made, and what of it they still take when they are complete, in megabytes.

func BenchmarkLongestText(b *testing.B) {
	a := withFaces(b, fakeNets{})
	text := strings.Repeat("I am so glad that you came, my dear friend. ", maxTextWords/10)
	models := contract.BatchModels{Language: &contract.BatchLanguage{
		Granularity: contract.ByWord,
		Sentiment:   &contract.Unconfigurable{},
	}}
	for b.Loop() {
		var report Report
		measured(b, func() {
			var err error
			if report, err = a.text(b.Context(), text, Request{Models: models}); err != nil {
				b.Fatal(err)
			}
		})
		if n := len(report.Models.Language.GroupedPredictions[0].Predictions); n != maxTextWords {
			b.Fatalf("%d words", n)
		}
	}
}

func BenchmarkMostFaces(b *testing.B) {
	w := faceCollector{Analyser: withFaces(b, fakeNets{}), request: Request{Models: contract.AllBatchModels()}}
	for i := range maxFaces {
		w.seen = append(w.seen, seenFace{frame: int32(i), classes: [face.Classes]float32{3: 1}})
	}
	for b.Loop() {
		var faces *contract.ModelPredictions[contract.FacePrediction]
		var meshes *contract.ModelPredictions[contract.FacemeshPrediction]
		measured(b, func() { faces, meshes = w.predictions() })
		ofFaces, ofMeshes := faces.GroupedPredictions[0].Predictions, meshes.GroupedPredictions[0].Predictions
		if len(ofFaces) != maxFaces || len(ofMeshes) != maxFaces {
			b.Fatalf("%d and %d faces", len(ofFaces), len(ofMeshes))
		}
	}
}

// measured reports the memory that a call takes.
func measured(b *testing.B, call func()) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const megabyte = 1 << 20
	runtime.GC()
	before, most := heap(), uint64(0)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	call()
	close(done)
	<-watched
	b.ReportMetric(float64(max(most, heap())-before)/megabyte, "peak-MB")
	runtime.GC()
	b.ReportMetric(float64(heap()-before)/megabyte, "live-MB")
}
