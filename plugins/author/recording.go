package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"parley/plugins/sandbox"
)

// recordings answer requests in place of hosts, each once.
type recordings struct {
	mu      sync.Mutex
	left    []recording
	unknown []string // requests without a recording
}

func (r *recordings) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Body != nil {
		_ = q.Body.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.left, func(a recording) bool { return a.Method == q.Method && a.URL == q.URL.String() })
	if i < 0 {
		r.unknown = append(r.unknown, q.Method+" "+q.URL.String())
		return nil, errors.New("the case has no recorded answer")
	}
	a := r.left[i]
	r.left = slices.Delete(r.left, i, i+1)
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	body, ok := a.Body.(string)
	if !ok && a.Body != nil {
		body = asJSON(a.Body)
	}
	answer := &http.Response{
		StatusCode:    a.Status,
		Status:        fmt.Sprint(a.Status),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       q,
	}
	for name, value := range a.Headers {
		answer.Header.Set(name, value)
	}
	return answer, nil
}

// problem describes requests that were not recorded and, if the case went well otherwise,
// recordings that were not requested.
func (r *recordings) problem(well bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, u := range r.unknown {
		lines = append(lines, "requested, but not recorded in the case: "+u)
	}
	if well || len(r.unknown) > 0 {
		for _, a := range r.left {
			lines = append(lines, "recorded in the case, but not requested: "+a.Method+" "+a.URL)
		}
	}
	return strings.Join(lines, "\n")
}

// memory is a plugin's key-value space for one case.
type memory map[string]string

func (m memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	value, ok := m[key]
	return []byte(value), ok, nil
}

func (m memory) Set(_ context.Context, key string, value []byte, quota int64) error {
	size := int64(len(key) + len(value))
	for k, v := range m {
		if k != key {
			size += int64(len(k) + len(v))
		}
	}
	if size > quota {
		return sandbox.ErrFull
	}
	m[key] = string(value)
	return nil
}

func (m memory) Delete(_ context.Context, key string) error {
	delete(m, key)
	return nil
}

func (m memory) Keys(_ context.Context, prefix string, most int) ([]string, error) {
	var keys []string
	for k := range m {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys[:min(len(keys), most)], nil
}
