package espeak

import (
	"encoding/json"
	"os"

	"parley/internal/isolate"
)

// childName is what the process is called in ps.
const childName = "parley-espeak"

// question asks for the phonemes of words.
type question struct{ Voice, Words string }

// answer holds the phonemes, or what is wrong with the question.
type answer struct{ IPA, Error string }

// phonemizeFunc turns words into phonemes.
type phonemizeFunc func(question) (string, error)

// Main makes this process the one that holds eSpeak NG, if it was started for
// that; then it does not return. A program that opens a Phonemizer calls it
// before anything else.
func Main() { childMain(childName, func(lib *library) phonemizeFunc { return lib.answer }) }

// childMain is the process of that name from its start to its end. Its one
// argument, if it has one, is the folder of the library's data.
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
			said, err := json.Marshal(a)
			if err != nil {
				return err
			}
			return reply(said)
		}}, nil
	})
}

func (e *library) answer(q question) (string, error) {
	if err := e.use(q.Voice); err != nil {
		return "", err
	}
	return e.phonemize(q.Words)
}

// childArgs are the arguments of the process.
func childArgs() []string {
	if dir := os.Getenv("ESPEAK_DATA_PATH"); dir != "" { // as the library has it
		return []string{dir}
	}
	return nil
}
