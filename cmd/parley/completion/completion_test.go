package completion

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// tree is a command line with one of everything.
type tree struct {
	Verbose bool `short:"v" help:"Say more."`
	Keys    struct {
		Data   string `short:"d" help:"Folder."`
		Revoke struct {
			ID string `arg:""`
		} `cmd:"" help:"Make a key useless."`
		List struct{} `cmd:"" help:"List the keys."`
	} `cmd:"" help:"Keys."`
	Pull struct {
		Names   []string `arg:"" optional:""`
		Profile string
		Secret  string `hidden:""`
	} `cmd:"" help:"Fetch."`
	Inner struct{} `cmd:"" hidden:""`
}

func TestWhatMayStandAtTheCursor(t *testing.T) {
	parser, err := kong.New(&tree{}, kong.Name("box"))
	if err != nil {
		t.Fatal(err)
	}
	values := func(v *kong.Value, _ *kong.Node, given map[string]string) Answer {
		switch v.Name {
		case "data":
			return Answer{Files: Folders}
		case "id":
			return Answer{Candidates: []Candidate{{"k1", "in " + given["data"]}, {"x2", ""}}}
		case "names":
			return Answer{Candidates: []Candidate{{"a", ""}, {"b", ""}}}
		case "profile":
			return Answer{Candidates: []Candidate{{"small", ""}, {"full", ""}}}
		}
		return Answer{}
	}
	for line, want := range map[string]string{
		"":                       "keys pull",
		"p":                      "pull",
		"keys ":                  "revoke list",
		"-":                      "--help --verbose",
		"-v keys --data x l":     "list",
		"keys --data ":           ":folders",
		"keys -d ":               ":folders",
		"keys --data=":           ":folders",
		"keys revoke -d y ":      "k1 x2",
		"keys revoke --data=y k": "k1",
		"keys revoke k1 ":        "",
		"keys list --d":          "--data",
		"keys list --data x --d": "",
		"pull ":                  "a b",
		"pull a b ":              "a b",
		"pull --profile ":        "small full",
		"pull --profile=":        "--profile=small --profile=full",
		"pull --profile=s":       "--profile=small",
		"pull --sec":             "",
		"pull --nonsense ":       "a b",
		"pull -- -":              "",
		"pull -- ":               "a b",
		"nonsense ":              "keys pull",
	} {
		a := At(parser.Model, values, strings.Split(line, " ")...)
		var got []string
		for l := range strings.Lines(a.String()) {
			word, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if a := At(parser.Model, values, "keys", "revoke", "--data", "/box", "k"); a.String() != "k1\tin /box\n" {
		t.Errorf("got %q", a.String())
	}
}
