// Package search runs web_search, the box's tool for searching the web, on an operator's server with the JSON
// API of SearXNG.
package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// timeout bounds one search. A SearXNG server gives its own sources 3 s, and users wait only a few
	// seconds more.
	timeout = 8 * time.Second
	// maxBytes is the largest response that is read; a page of results is some hundred kilobytes.
	maxBytes = 4 << 20
	// maxResults and maxChars bound what the model gets to 500 tokens, which a small box reads in a few
	// seconds.
	maxResults = 4
	maxChars   = 400 // of one result
	// maxQuery is the longest query, in characters.
	maxQuery = 300
)

// ErrNoServer means that no search server is configured.
var ErrNoServer = errors.New("no search server is configured: set web_search.url in parley.yaml to a SearXNG server")

// Server is a search server. The zero value has none, and every search fails.
type Server struct {
	URL    string       // base URL, such as http://127.0.0.1:8888; may be empty
	Client *http.Client // nil: http.DefaultClient
}

// results is the used part of a SearXNG response.
type results struct {
	Answers   []json.RawMessage `json:"answers"` // strings, or objects with a string in "answer"
	Infoboxes []struct {
		Infobox string `json:"infobox"`
		Content string `json:"content"`
	} `json:"infoboxes"`
	Results []struct {
		Title   string `json:"title"`
		URL     string `json:"url"`
		Content string `json:"content"`
	} `json:"results"`
}

// RunTool searches for the query in the arguments of a tool call, a JSON object {"query": …}. It returns text
// for a language model: answers first, then results with title, site and excerpt.
func (s Server) RunTool(ctx context.Context, name, arguments string) (string, error) {
	if name != "web_search" {
		return "", fmt.Errorf("the box has no tool %q", name)
	}
	var asked struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal([]byte(arguments), &asked); err != nil {
		return "", fmt.Errorf("web_search: its arguments are not {\"query\": TEXT}: %w", err)
	}
	query := truncate(strings.Join(strings.Fields(asked.Query), " "), maxQuery)
	if query == "" {
		return "", errors.New("web_search: query is empty")
	}
	if s.URL == "" {
		return "", ErrNoServer
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f, err := s.search(ctx, query)
	if err != nil {
		return "", fmt.Errorf("web_search: %w", err)
	}
	return f.text(), nil
}

func (s Server) search(ctx context.Context, query string) (f results, err error) {
	at := strings.TrimRight(s.URL, "/") + "/search?" + url.Values{"q": {query}, "format": {"json"}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return f, err
	}
	request.Header.Set("Accept", "application/json")
	client := s.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request)
	if err != nil {
		return f, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusForbidden:
		return f, errors.New("the search server answered 403: allow the format json in its settings (search.formats)")
	case answer.StatusCode != http.StatusOK:
		return f, fmt.Errorf("the search server answered %s", answer.Status)
	}
	if err = json.NewDecoder(io.LimitReader(answer.Body, maxBytes)).Decode(&f); err != nil {
		return f, fmt.Errorf("the search server answered no JSON of its API: %w", err)
	}
	return f, nil
}

// text returns the results as text for a model.
func (r results) text() string {
	var lines []string
	for _, raw := range r.Answers {
		var answer string
		var object struct {
			Answer string `json:"answer"`
		}
		if json.Unmarshal(raw, &answer) != nil && json.Unmarshal(raw, &object) == nil {
			answer = object.Answer
		}
		lines = appendResult(lines, "", answer)
	}
	for _, box := range r.Infoboxes {
		lines = appendResult(lines, box.Infobox, box.Content)
	}
	for _, result := range r.Results {
		title := result.Title
		if u, err := url.Parse(result.URL); err == nil && u.Host != "" {
			title += " (" + u.Host + ")"
		}
		lines = appendResult(lines, title, result.Content)
	}
	if len(lines) == 0 {
		return "Nothing was found."
	}
	return strings.Join(lines, "\n")
}

// appendResult appends one result, if it has content and there are fewer than maxResults.
func appendResult(lines []string, title, content string) []string {
	content = truncate(strings.Join(strings.Fields(content), " "), maxChars)
	title = truncate(strings.Join(strings.Fields(title), " "), maxChars/4)
	if len(lines) >= maxResults || content == "" {
		return lines
	}
	if title == "" {
		return append(lines, content)
	}
	return append(lines, title+": "+content)
}

// truncate returns at most limit characters of a text.
func truncate(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
