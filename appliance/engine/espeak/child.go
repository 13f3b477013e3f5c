package espeak

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// childName is what the process is called, in ps as in os.Args[0]: its
// environment is empty, so it knows by its name what it is for.
const childName = "parley-espeak"

// question asks for the phonemes of words.
type question struct{ Voice, Words string }

// answer holds the phonemes, or what is wrong with the question.
type answer struct{ IPA, Error string }

// readiness is what the child says first: whether the library is there, and
// which walls of the cage the kernel does not have.
type readiness struct {
	Error string
	Lacks []string
}

// sayer turns words into phonemes.
type sayer func(question) (string, error)

// Main makes this process the one that holds eSpeak NG, if it was started for
// that; then it does not return. A program that opens a Phonemizer calls it
// before anything else.
func Main() {
	if len(os.Args) > 0 && os.Args[0] == childName {
		childMain(func(lib *library) sayer { return lib.answer })
	}
}

// childMain is the process from its start to its end. Its one argument, if it
// has one, is the folder of the library's data.
func childMain(with func(*library) sayer) {
	// Ctrl-C in a terminal reaches this process too. The box decides when it
	// ends: when the box closes its end of the pipe.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	runtime.GOMAXPROCS(1)
	var dataDir string
	if len(os.Args) > 1 {
		dataDir = os.Args[1]
	}
	if err := serve(os.Stdin, os.Stdout, dataDir, with); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// serve opens the library, gives up all rights but that to read its data, and
// answers.
func serve(questions io.Reader, answers io.Writer, dataDir string, with func(*library) sayer) error {
	out := json.NewEncoder(answers)
	lib, err := openLibrary(dataDir)
	if err != nil {
		return out.Encode(readiness{Error: err.Error()})
	}
	lacks, err := enterCage(lib.dataDir)
	if err != nil {
		return out.Encode(readiness{Error: fmt.Sprintf("espeak: %v", err)})
	}
	if err := out.Encode(readiness{Lacks: lacks}); err != nil {
		return err
	}
	say := with(lib)
	in := json.NewDecoder(questions)
	for {
		var q question
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		if a.IPA, err = say(q); err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func (e *library) answer(q question) (string, error) {
	if err := e.use(q.Voice); err != nil {
		return "", err
	}
	return e.say(q.Words)
}
