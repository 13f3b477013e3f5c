package door

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"parley/appliance/contract"
)

// Speech continues an earlier generation, or makes it again, on the box that made it. The hub does not know which one
// that is, so the door asks the boxes.

const (
	// findParallel is how many boxes are asked at once, for all clients together.
	findParallel = 16
	// findLimit is how long a box may take to say whether it has a generation: it looks into its database.
	findLimit = 3 * time.Second
	// maxGenerations bounds the stored answers, 150 bytes each.
	maxGenerations = 10_000
)

// generationOf returns the id of the generation that a request continues or makes again; empty if it does neither.
func generationOf(r *http.Request, asked Request, body []byte) string {
	id := asked.ID
	if id == "" {
		id = r.URL.Query().Get("context_generation_id")
	}
	if id == "" && bytes.Contains(body, []byte(`"generation_id"`)) {
		var posted struct {
			Context struct {
				GenerationID string `json:"generation_id"`
			} `json:"context"`
		}
		_ = json.Unmarshal(body, &posted) // the box says what is wrong with it
		id = posted.Context.GenerationID
	}
	if !contract.ValidID(id) {
		return ""
	}
	return id
}

// boxOfGeneration returns the box that made a generation of an account; empty if no box says so.
func (d *Door) boxOfGeneration(ctx context.Context, asked Request, id string) (string, error) {
	cached := asked.Account + " " + id
	if name, ok := d.generations.Get(cached); ok {
		return name, nil
	}
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	found := make(chan string, 1)
	var all sync.WaitGroup
	for _, b := range d.fleet.Boxes() {
		if !d.reachable(b) {
			continue
		}
		select {
		case d.finding <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		all.Go(func() {
			defer func() { <-d.finding }()
			if d.hasGeneration(ctx, b.Name, asked.Account, id) {
				select {
				case found <- b.Name:
				default:
				}
				cancel()
			}
		})
	}
	all.Wait()
	select {
	case name := <-found:
		d.generations.Add(cached, name)
		return name, nil
	default:
		return "", nil
	}
}

// hasGeneration asks a box whether it has a generation.
func (d *Door) hasGeneration(ctx context.Context, box, account, id string) bool {
	key, err := d.fleet.Key(ctx, box, account)
	if err != nil {
		return false
	}
	t, err := d.transport(box)
	if err != nil {
		return false
	}
	at := t.base.JoinPath("/v0/tts/generations", id, "file").String()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, at, nil)
	if err != nil {
		return false
	}
	r.Header.Set("X-Service-Api-Key", key)
	res, err := t.RoundTrip(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// reachable reports whether a client could be sent to a box that has room.
func (d *Door) reachable(b Box) bool {
	return (d.options.Group == "" || slices.Contains(b.Groups, d.options.Group)) &&
		d.now().Sub(b.Seen) <= maxAge && b.State.Ready && b.State.Address != ""
}
