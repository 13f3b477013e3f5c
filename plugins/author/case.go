package author

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/plugins/manifest"
)

// testCase is one test case of a file in tests/: the environment of the plugin, and one or
// more calls of it.
type testCase struct {
	Name         string            `json:"name"`
	Settings     map[string]any    `json:"settings"`
	Files        map[string]string `json:"files"`   // folders of the project, by the name in the plugin
	Storage      map[string]string `json:"storage"` // content before the first call
	HTTP         []recording       `json:"http"`    // answers of hosts, each used once
	Conversation json.RawMessage   `json:"conversation"`
	Calls        []step            `json:"calls"`
	step                           // a single call in place of calls

	file string
}

// step is one call and its expected outcome.
type step struct {
	Tool       string          `json:"tool"` // optional if the plugin has only one
	Parameters json.RawMessage `json:"parameters"`
	Time       time.Time       `json:"time"`
	Caller     string          `json:"caller"`

	Content  any      `json:"content"`  // expected content: a text, or JSON
	Contains []string `json:"contains"` // texts that the content must contain
	Error    string   `json:"error"`    // text that the error message must contain
}

// recording is a host's answer to a request.
type recording struct {
	Method  string            `json:"method"` // default GET
	URL     string            `json:"url"`
	Status  int               `json:"status"` // default 200
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"`  // a text, or JSON
	Error   string            `json:"error"` // in place of an answer: the host does not answer
}

// readTests returns the contents of a project's tests/*.json, by file name.
func readTests(p Project) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(p.Dir, "tests", "*.json"))
	texts := map[string]string{}
	for _, file := range files {
		text, failed := os.ReadFile(file)
		texts[filepath.Base(file)], err = string(text), errors.Join(err, failed)
	}
	return texts, err
}

// readCases returns the test cases of a project.
func readCases(p Project) ([]testCase, error) {
	texts, err := readTests(p)
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, errors.New("there are no cases: write tests/NAME.json, such as {\"parameters\": {\"who\": " +
			"\"Ada\"}, \"content\": \"Hello, Ada.\"}")
	}
	return parseCases(p.Manifest, texts)
}

// parseCases parses the test cases in files. Errors name the file and the case.
func parseCases(m manifest.Manifest, texts map[string]string) ([]testCase, error) {
	var all []testCase
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		shown := "tests/" + name
		some, err := decodeCases([]byte(texts[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shown, err)
		}
		for i, c := range some {
			c.file = shown
			if c.Name == "" {
				c.Name = "case " + strconv.Itoa(i+1)
			}
			if err := c.complete(m); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", shown, c.Name, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// decodeCases parses one file: a case, or a list of cases.
func decodeCases(text []byte) ([]testCase, error) {
	var some []testCase
	var into any = &some
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		some = make([]testCase, 1)
		into = &some[0]
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			line := 1 + bytes.Count(text[:min(syntax.Offset, int64(len(text)))], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return some, nil
}

// complete sets the defaults of a case, and validates it.
func (c *testCase) complete(m manifest.Manifest) error {
	if c.Calls == nil {
		c.Calls = []step{c.step}
	} else if c.Parameters != nil || c.expects() {
		return errors.New("the case has calls as well as parameters or a result: move those into the calls")
	}
	for name := range c.Settings {
		if _, ok := m.Setting(name); !ok {
			return fmt.Errorf("settings: %s has no setting %q", ManifestFile, name)
		}
	}
	for as := range c.Files {
		if !slices.ContainsFunc(m.Permissions.Files, func(f manifest.File) bool { return f.As == as }) {
			return fmt.Errorf("files: permissions.files of %s has no folder %q", ManifestFile, as)
		}
	}
	for i, r := range c.HTTP {
		if r.URL == "" {
			return fmt.Errorf("http[%d]: url is missing", i)
		}
		if r.Method == "" {
			c.HTTP[i].Method = "GET"
		}
		if r.Status == 0 {
			c.HTTP[i].Status = 200
		}
	}
	for i := range c.Calls {
		s := &c.Calls[i]
		if s.Tool == "" {
			s.Tool = c.Tool
		}
		if s.Tool == "" && len(m.Tools) == 1 {
			s.Tool = m.Tools[0].Name
		}
		switch {
		case s.Tool == "":
			return errors.New("tool is missing: name one of the plugin's tools")
		case !s.expects():
			return errors.New("no expectation: write content, contains or error")
		case s.Error != "" && (s.Content != nil || s.Contains != nil):
			return errors.New("two expectations: write either error, or content and contains")
		}
		if s.Time.IsZero() {
			s.Time = c.Time
		}
		if s.Caller == "" {
			s.Caller = c.Caller
		}
	}
	return nil
}

func (s step) expects() bool { return s.Content != nil || len(s.Contains) > 0 || s.Error != "" }

// differs describes how the outcome of a call differs from what is expected; empty if it
// does not.
func (s step) differs(content string, failed error) string {
	switch {
	case failed != nil && s.Error == "":
		return "the call failed: " + failed.Error()
	case failed != nil && !strings.Contains(failed.Error(), s.Error):
		return fmt.Sprintf("the error is     %q\nbut should have  %q", failed.Error(), s.Error)
	case failed != nil:
		return ""
	case s.Error != "":
		return fmt.Sprintf("the content is     %q\nexpected an error  %q", content, s.Error)
	}
	for _, part := range s.Contains {
		if !strings.Contains(content, part) {
			return fmt.Sprintf("the content is   %q\nbut should have  %q", content, part)
		}
	}
	if s.Content == nil {
		return ""
	}
	if want, ok := s.Content.(string); ok {
		return differText(strings.TrimRight(content, "\r\n"), want)
	}
	var got any
	if err := json.Unmarshal([]byte(content), &got); err != nil {
		return fmt.Sprintf("the content is  %q\nexpected JSON   %s", content, asJSON(s.Content))
	}
	if asJSON(got) != asJSON(s.Content) {
		return fmt.Sprintf("the content is  %s\nexpected        %s", asJSON(got), asJSON(s.Content))
	}
	return ""
}

func differText(got, want string) string {
	if got == want {
		return ""
	}
	g, w := []rune(got), []rune(want)
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	return fmt.Sprintf("the content is  %q\nexpected        %q\nthey differ from character %d on", got, want, at+1)
}

// asJSON formats a value as JSON, with its members in order.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
