package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"parley/appliance/chat"
)

const (
	// readyEach is how often a box that starts is asked whether it is ready: a
	// hundredth of what a start takes.
	readyEach = 20 * time.Millisecond
	// figuresTime and maxFigures bound what a box says at /metrics: it has a
	// hundred kilobytes of figures, and answers in milliseconds.
	figuresTime = 10 * time.Second
	maxFigures  = 16 << 20
)

// get asks the box, over the same connection as its chats, for another path.
func (p place) get(ctx context.Context, path string) (*http.Response, error) {
	return p.request(ctx, http.MethodGet, path, nil)
}

func (p place) request(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	u, err := url.Parse(p.address)
	if err != nil {
		return nil, err
	}
	u.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	u.Path, u.RawQuery = path, ""
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if p.key != "" {
		r.Header.Set("X-Service-Api-Key", p.key)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	client := p.client
	if client == nil {
		client = http.DefaultClient
	}
	return client.Do(r)
}

// untilReady waits until a conversation could begin.
func (p place) untilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, boxReady)
	defer cancel()
	for {
		if response, err := p.get(ctx, "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if err := sleep(ctx, readyEach); err != nil {
			return err
		}
	}
}

// stageTimes are the histograms of parley_turn_stage_seconds, by stage.
type stageTimes map[chat.Stage]*dto.Histogram

// stageTimes asks the box for its figures; nil where the key does not open
// them.
func (p place) stageTimes(ctx context.Context) (stageTimes, error) {
	ctx, cancel := context.WithTimeout(ctx, figuresTime)
	defer cancel()
	response, err := p.get(ctx, "/metrics")
	if err != nil {
		return nil, fmt.Errorf("asking the box at %s for its figures (does it run?): %w", p.address, err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return nil, nil
	default:
		return nil, fmt.Errorf("the figures of the box: %s", response.Status)
	}
	return parseStages(io.LimitReader(response.Body, maxFigures))
}

// parseStages reads the text that Prometheus collects.
func parseStages(text io.Reader) (stageTimes, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("the figures of the box: %w", err)
	}
	times := stageTimes{}
	for _, m := range families["parley_turn_stage_seconds"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "stage" {
				times[chat.Stage(label.GetValue())] = m.GetHistogram()
			}
		}
	}
	return times, nil
}

// stageMedian is the median of what came between two readings, in seconds, as
// far as the buckets tell: within one the values are taken to lie evenly. NaN
// where nothing came.
func stageMedian(before, after *dto.Histogram) float64 {
	earlier := map[float64]uint64{}
	for _, b := range before.GetBucket() {
		earlier[b.GetUpperBound()] = b.GetCumulativeCount()
	}
	half := float64(after.GetSampleCount()-before.GetSampleCount()) / 2
	if half <= 0 {
		return math.NaN()
	}
	var bound, below float64
	for _, b := range after.GetBucket() {
		upTo := float64(b.GetCumulativeCount() - earlier[b.GetUpperBound()])
		if upTo >= half {
			if math.IsInf(b.GetUpperBound(), 1) {
				return bound
			}
			return bound + (b.GetUpperBound()-bound)*(half-below)/(upTo-below)
		}
		bound, below = b.GetUpperBound(), upTo
	}
	return bound
}

// stages adds where the box says that the time of its turns went.
func (r *Report) stages(prefix string, before, after stageTimes) {
	for _, s := range []struct {
		stage chat.Stage
		note  string
	}{
		{chat.StageHear, "from the voice's end to its transcript"},
		{chat.StageThink, "to the first sentence"},
		{chat.StageSpeak, "to its sound"},
		{chat.StageSilence, "from the voice's end to the end of the turn"},
		{chat.StageAnswer, "from the voice's end to the first clip"},
	} {
		median := 1000 * stageMedian(before[s.stage], after[s.stage])
		r.figure(prefix+"stage_"+string(s.stage)+"_median", median, "ms", s.note+", by the box's own figures")
	}
}
