package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/firmware/licences"
	"parley/firmware/packs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packaged returns a package whose program has the modules of Parley and else is a small one.
func packaged(t *testing.T, arch string) subject {
	t.Helper()
	parts, err := licences.Of(nil)
	must(t, err)
	s := subject{
		arch:       arch,
		depends:    "libc6 (>= 2.34), libfirst1 | libfirst2, libespeak-ng1",
		recommends: "npm",
		made:       time.Unix(1700000000, 0).UTC(),
		build:      &buildinfo.BuildInfo{GoVersion: "go1.26.8", Path: "parley/cmd/parley"},
		parts:      parts,
	}
	for _, p := range parts {
		if p.Kind == licences.Go {
			s.build.Deps = append(s.build.Deps, &debug.Module{
				Path:    p.Name,
				Version: p.Version,
				Sum:     "h1:f58SaIzcDXrSy3kWaHNvuJgJ3Nmz59Zji6XoJR/q1ow=",
			})
		}
	}
	s.program = compiled(t)
	return s
}

// compiled returns an executable that names its compiler.
func compiled(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	c := exec.CommandContext(t.Context(), "gcc", "-x", "c", "-o", name, "-")
	c.Stdin = strings.NewReader("int main() { return 0; }\n")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return name
}

// The schema is the one that the project CycloneDX publishes, in the module cyclonedx-go.
func TestTheBillIsValidCycloneDX(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/CycloneDX/cyclonedx-go").Output()
	must(t, err)
	folder := filepath.Join(strings.TrimSpace(string(out)), "schema")
	c := jsonschema.NewCompiler()
	for address, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		must(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		must(t, err)
		must(t, c.AddResource(address, doc))
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	must(t, err)
	for _, arch := range []string{"amd64", "arm64"} {
		bill, err := packaged(t, arch).bill()
		must(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bill))
		must(t, err)
		must(t, schema.Validate(doc))
	}
	if err := schema.Validate(map[string]any{"bomFormat": "CycloneDX"}); err == nil {
		t.Error("the schema allows anything")
	}
}

func TestTheBillIsTheSameForTheSameProgram(t *testing.T) {
	s := packaged(t, "amd64")
	first, err := s.bill()
	must(t, err)
	again := packaged(t, "amd64")
	second, err := again.bill()
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Error("two bills of one program differ")
	}
	again.recommends = "npm, another"
	other, err := again.bill()
	must(t, err)
	if serial(t, first) == serial(t, other) {
		t.Error("two packages have one serial number")
	}
}

func serial(t *testing.T, bill []byte) string {
	t.Helper()
	var b struct{ SerialNumber string }
	must(t, json.Unmarshal(bill, &b))
	return b.SerialNumber
}

func TestTheBillNamesEverything(t *testing.T) {
	bill, err := packaged(t, "amd64").bill()
	must(t, err)
	var b struct {
		Components []struct {
			Name, Scope string
			Licenses    []struct{ Expression string }
			Components  []struct {
				Hashes []struct{ Content string }
			}
		}
	}
	must(t, json.Unmarshal(bill, &b))
	scopes, hashes := map[string]string{}, map[string]bool{}
	for _, c := range b.Components {
		scopes[c.Name] = c.Scope
		for _, f := range c.Components {
			hashes[f.Hashes[0].Content] = true
		}
	}
	for name, want := range map[string]string{"std": "required", "SQLite": "required", "preact": "required",
		"github.com/pion/webrtc/v4": "required", "libc6": "required", "libfirst1": "optional", "npm": "optional",
		"llm-qwen": "optional"} {
		if scopes[name] != want {
			t.Errorf("%s is %q, want %q", name, scopes[name], want)
		}
	}
	for _, p := range packs.BuiltIn() {
		for _, f := range append(p.Builds["amd64"].Files, p.Builds["any"].Files...) {
			if !hashes[f.SHA256] {
				t.Errorf("%s of the pack %s is missing", f.Name, p.Name)
			}
		}
	}
}

func TestTheCopyrightFileNamesEveryPartOfTheProgram(t *testing.T) {
	parts, err := licences.Of(nil)
	must(t, err)
	text := copyright(parts)
	for _, p := range parts {
		if files := filesOf(p); files != "" && !strings.Contains(text, files+"\n") {
			t.Errorf("%s is missing", files)
		}
	}
	for _, whole := range []string{"TERMS AND CONDITIONS FOR USE, REPRODUCTION", "NO WARRANTY\n\n"} {
		if strings.Contains(text, whole) {
			t.Errorf("it has a licence that Debian has: %q", whole)
		}
	}
	for line := range strings.Lines(text) {
		if line == "\n" || strings.HasPrefix(line, " ") {
			continue
		}
		field, _, _ := strings.Cut(line, ":")
		if !strings.Contains("Format Upstream-Name Comment Files Copyright License", field) {
			t.Errorf("%q is not a field", line)
		}
	}
}
