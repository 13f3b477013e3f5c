package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// Report is the result of a project's test cases.
type Report struct {
	Passed int       `json:"passed"`
	Failed int       `json:"failed"`
	Cases  []Outcome `json:"cases"`
}

// Outcome is the result of one test case.
type Outcome struct {
	File    string   `json:"file"`
	Name    string   `json:"name"`
	Problem string   `json:"problem,omitempty"` // empty if it passed
	Log     []string `json:"log,omitempty"`     // log of the plugin
	TookMS  float64  `json:"took_ms"`           // in the plugin, for all calls
}

// Test runs the cases in tests/ with the module that Build made, as the box would run it.
// All requested permissions are granted; folders, hosts and storage are those of the case.
// report is called after each case. An error means that the project cannot be tested; failed
// cases are in the report.
func Test(ctx context.Context, p Project, report func(Outcome)) (Report, error) {
	all, err := readCases(p)
	if err != nil {
		return Report{}, err
	}
	wasm, err := os.ReadFile(p.Wasm())
	if err != nil {
		return Report{}, fmt.Errorf("%w: build it first, with parley plugin build", err)
	}
	return run(ctx, p, wasm, all, report)
}

// Check runs the test cases of a package, and returns an error that names the failed ones.
// It skips cases with folders of the project, which the package does not contain.
func Check(ctx context.Context, m manifest.Manifest, wasm []byte, tests map[string]string) error {
	all, err := parseCases(m, tests)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c testCase) bool { return len(c.Files) > 0 })
	var failed []string
	_, err = run(ctx, Project{Manifest: m}, wasm, all, func(o Outcome) {
		if o.Problem != "" {
			failed = append(failed, o.File+": "+o.Name+": "+strings.ReplaceAll(o.Problem, "\n", "; "))
		}
	})
	if err == nil && len(failed) > 0 {
		err = errors.New(strings.Join(failed, "\n"))
	}
	return err
}

func run(ctx context.Context, p Project, wasm []byte, all []testCase, report func(Outcome)) (Report, error) {
	host, err := sandbox.New(ctx, sandbox.Options{})
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = host.Close(context.WithoutCancel(ctx)) }()
	module, err := host.Load(ctx, p.Manifest, wasm)
	if err != nil {
		return Report{}, fmt.Errorf("%s cannot be run: %w", p.Manifest.Name, err)
	}
	r := Report{Cases: []Outcome{}}
	for _, c := range all {
		o, err := c.run(ctx, p, module)
		if err != nil {
			return r, fmt.Errorf("%s: %s: %w", c.file, c.Name, err)
		}
		if o.Problem == "" {
			r.Passed++
		} else {
			r.Failed++
		}
		r.Cases = append(r.Cases, o)
		report(o)
	}
	return r, nil
}

// run runs one case. An error means that the case could not be run, or comes from ctx.
func (c testCase) run(ctx context.Context, p Project, module *sandbox.Module) (Outcome, error) {
	o := Outcome{File: c.file, Name: c.Name}
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	granted, err := c.granted(p, dir)
	if err != nil {
		return o, err
	}
	hosts := &recordings{left: slices.Clone(c.HTTP)}
	stored := memory(maps.Clone(c.Storage))
	if stored == nil {
		stored = memory{}
	}
	for i, s := range c.Calls {
		r, failed := module.Call(ctx, sandbox.Call{
			Tool:         s.Tool,
			Parameters:   s.Parameters,
			Account:      "test",
			Chat:         "test",
			Caller:       s.Caller,
			Time:         s.Time,
			Settings:     c.settings(),
			Granted:      granted,
			Storage:      stored,
			Conversation: c.conversation(),
			Transport:    hosts,
			Log:          func(l sandbox.Line) { o.Log = append(o.Log, l.Text) },
		})
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		o.TookMS += float64(r.Took) / float64(time.Millisecond)
		if o.Problem = s.differs(r.Content, failed); o.Problem != "" {
			if len(c.Calls) > 1 {
				o.Problem = fmt.Sprintf("call %d, of %s: %s", i+1, s.Tool, o.Problem)
			}
			break
		}
	}
	if more := hosts.problem(o.Problem == ""); more != "" {
		o.Problem = strings.TrimPrefix(o.Problem+"\n"+more, "\n")
	}
	return o, nil
}

// granted returns the permissions that the manifest requests, with the folders of the case.
// Writable folders are copies, so that a test leaves the project unchanged. Folders that
// the case does not have are empty.
func (c testCase) granted(p Project, dir string) (manifest.Permissions, error) {
	granted := p.Manifest.Permissions
	granted.Files = slices.Clone(granted.Files)
	for i, f := range granted.Files {
		empty := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(empty, 0o755); err != nil {
			return granted, err
		}
		granted.Files[i].Path = empty
		folder, ok := c.Files[f.As]
		if !ok {
			continue
		}
		path, err := filepath.Abs(filepath.Join(p.Dir, folder))
		if err != nil {
			return granted, err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return granted, fmt.Errorf("files: not a folder of the project (%s)", folder)
		}
		if granted.Files[i].Path = path; f.Mode == manifest.Write {
			granted.Files[i].Path = empty
			if err := os.CopyFS(empty, os.DirFS(path)); err != nil {
				return granted, err
			}
		}
	}
	return granted, nil
}

// settings returns the settings of the case as texts, as installers enter them.
func (c testCase) settings() map[string]string {
	texts := map[string]string{}
	for name, value := range c.Settings {
		if text, ok := value.(string); ok {
			texts[name] = text
		} else {
			texts[name] = asJSON(value)
		}
	}
	return texts
}

func (c testCase) conversation() sandbox.Conversation {
	if c.Conversation == nil {
		return nil
	}
	return conversation(c.Conversation)
}

// conversation is the conversation of a case.
type conversation json.RawMessage

func (t conversation) Transcript(context.Context, bool) (json.RawMessage, error) {
	return json.RawMessage(t), nil
}

// Print prints the result of a case.
func (o Outcome) Print(to io.Writer) error {
	if o.Problem == "" {
		_, err := fmt.Fprintf(to, "ok    %s: %s (%.1f ms)\n", o.File, o.Name, o.TookMS)
		return err
	}
	lines := strings.Split(o.Problem, "\n")
	for _, l := range o.Log {
		lines = append(lines, "log: "+l)
	}
	_, err := fmt.Fprintf(to, "FAIL  %s: %s\n      %s\n", o.File, o.Name, strings.Join(lines, "\n      "))
	return err
}
