package espeak

import (
	"encoding/json"
	"os"

	"parley/internal/isolate"
)

// childName is the name of the process in ps.
const childName = "parley-espeak"

// question requests the phonemes of words, or the version of the library.
type question struct {
	Voice, Words string
	Version      bool `json:",omitempty"`
}

// answer holds the phonemes or an error.
type answer struct{ IPA, Error string }

// phonemizeFunc answers a question.
type phonemizeFunc func(question) (string, error)

// Main runs the eSpeak NG process and does not return, if this process was started as one. A
// program that opens a Phonemizer must call it before anything else.
func Main() { childMain(childName, func(lib *library) phonemizeFunc { return lib.answer }) }

// childMain is the main function of the process with this name. Its optional argument is the folder
// of the library's data.
func childMain(name string, with func(*library) phonemizeFunc) {
	isolate.Main(name, func(args []string) (isolate.Work, error) {
		var dataDir string
		if len(args) > 0 {
			dataDir = args[0]
		}
		lib, err := openLibrary(dataDir)
		if err != nil {
			return isolate.Work{}, err
		}
		say := with(lib)
		return isolate.Work{Readable: lib.dataDir, Answer: func(request []byte, reply func([]byte) error) error {
			var q question
			if err := json.Unmarshal(request, &q); err != nil {
				return err
			}
			var a answer
			var err error
			if a.IPA, err = say(q); err != nil {
				a = answer{Error: err.Error()}
			}
			encoded, err := json.Marshal(a)
			if err != nil {
				return err
			}
			return reply(encoded)
		}}, nil
	})
}

func (l *library) answer(q question) (string, error) {
	if q.Version {
		return l.version, nil
	}
	if err := l.use(q.Voice); err != nil {
		return "", err
	}
	return l.phonemize(q.Words)
}

// childArgs returns the arguments of the process.
func childArgs() []string {
	if dir := os.Getenv("ESPEAK_DATA_PATH"); dir != "" { // the library's own variable
		return []string{dir}
	}
	return nil
}
