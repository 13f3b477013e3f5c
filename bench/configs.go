package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"parley/appliance/contract"
)

const (
	// configTime bounds the making of a config: a durable write, and some room.
	configTime = 30 * time.Second
	// maxConfig bounds what the box answers to it: the record, with its prompt.
	maxConfig = 1 << 20
)

// newConfig makes a config at the box, by its API, and returns its id.
func (p place) newConfig(ctx context.Context, c contract.PostedConfig) (string, error) {
	short := false // it is the answers that are timed
	c.EllmModel = &contract.EllmModel{AllowShortResponses: &short}
	made, err := p.post(ctx, "/v0/evi/configs", c)
	if err != nil {
		return "", fmt.Errorf("making a config at the box: %w", err)
	}
	var record contract.ReturnConfig
	if err := json.Unmarshal(made, &record); err != nil || record.ID == "" {
		return "", fmt.Errorf("making a config at the box: it answers %.200q", made)
	}
	return record.ID, nil
}

// newTurnConfig makes a config with such a turn_detection, and returns its id
// and the mode that the box has kept of it: one that knows no modes keeps none.
func (p place) newTurnConfig(ctx context.Context, name string, detection map[string]any) (id, mode string, err error) {
	made, err := p.post(ctx, "/v0/evi/configs", map[string]any{
		"name": name, "evi_version": contract.EVI4Mini, "prompt": map[string]any{"text": shortPrompt},
		"turn_detection": detection,
		"ellm_model":     map[string]any{"allow_short_responses": false}, // it is the answers that are timed
	})
	if err != nil {
		return "", "", fmt.Errorf("making a config at the box: %w", err)
	}
	var record struct {
		ID            string
		TurnDetection struct{ Mode string } `json:"turn_detection"`
	}
	if err := json.Unmarshal(made, &record); err != nil || record.ID == "" {
		return "", "", fmt.Errorf("making a config at the box: it answers %.200q", made)
	}
	return record.ID, record.TurnDetection.Mode, nil
}

// post sends a record to the box and returns what it answers.
func (p place) post(ctx context.Context, path string, record any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, configTime)
	defer cancel()
	body, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	response, err := p.request(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxConfig))
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %.200s", response.Status, answer)
	}
	return answer, nil
}
