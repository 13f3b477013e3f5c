package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// espeak-ng runs in a process of its own, this program once more. It is C that
// reads whatever anybody wrote, and some texts write past its buffers: then it
// dies alone, and is started anew.
const (
	processEnv    = "PARLEY_PROCESS"
	espeakProcess = "espeak-ng"
)

const (
	// espeakStarts is how long the process may take to begin: a tenth of a
	// second, and some seconds on a machine that has no time.
	espeakStarts = 10 * time.Second
	// espeakAnswers is how long it may take for a clause: a millisecond. Who
	// takes seconds will take for ever.
	espeakAnswers = 5 * time.Second
)

// errEspeakDied means that the process did not answer.
var errEspeakDied = errors.New("espeak: espeak-ng died")

// espeakQuestion asks for the phonemes of words.
type espeakQuestion struct{ Voice, Words string }

// espeakAnswer has them, or what is wrong with the question. The first answer
// comes without a question: whether the library is there.
type espeakAnswer struct{ IPA, Error string }

// BeEspeak makes this process the one that holds espeak-ng, if it was started
// for that; then it does not return. A program that opens a Phonemizer calls it
// before anything else.
func BeEspeak() {
	if os.Getenv(processEnv) != espeakProcess {
		return
	}
	// Whoever stops the box means all its processes. This one ends when the
	// other end of its pipe does, and says what is said until then.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := serveEspeak(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "parley:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveEspeak(questions io.Reader, answers io.Writer) error {
	out := json.NewEncoder(answers)
	lib, err := openEspeak()
	if err != nil {
		return out.Encode(espeakAnswer{Error: err.Error()})
	}
	if err := out.Encode(espeakAnswer{}); err != nil {
		return err
	}
	in := json.NewDecoder(questions)
	for {
		var q espeakQuestion
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a espeakAnswer
		if err := lib.use(q.Voice); err != nil {
			a.Error = err.Error()
		} else if a.IPA, err = lib.say(q.Words); err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// espeakChild is the process, seen from the one that asks.
type espeakChild struct {
	cmd       *exec.Cmd
	questions *os.File
	answers   *os.File
	out       *json.Encoder
	in        *json.Decoder
}

func startEspeak() (*espeakChild, error) {
	if os.Getenv(processEnv) != "" {
		return nil, errors.New("espeak: this process was started to hold espeak-ng, and does not: its main must call BeEspeak")
	}
	theirQuestions, questions, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", errors.Join(err, theirQuestions.Close(), questions.Close()))
	}
	// The program that runs, also where its file was replaced since.
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"parley-espeak"}
	cmd.Env = append(os.Environ(), processEnv+"="+espeakProcess, "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stdout = theirQuestions, theirAnswers
	err = cmd.Start()
	_, _ = theirQuestions.Close(), theirAnswers.Close()
	c := &espeakChild{cmd, questions, answers, json.NewEncoder(questions), json.NewDecoder(answers)}
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", errors.Join(err, questions.Close(), answers.Close()))
	}
	if _, err := c.answer(espeakStarts); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// ask returns the phonemes of words; errEspeakDied where there is no answer.
func (c *espeakChild) ask(q espeakQuestion) (string, error) {
	if err := c.out.Encode(q); err != nil {
		return "", fmt.Errorf("%w: %w", errEspeakDied, err)
	}
	return c.answer(espeakAnswers)
}

func (c *espeakChild) answer(within time.Duration) (string, error) {
	var a espeakAnswer
	if err := c.answers.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", fmt.Errorf("%w: %w", errEspeakDied, err)
	}
	if err := c.in.Decode(&a); err != nil {
		return "", fmt.Errorf("%w: %w", errEspeakDied, err)
	}
	if a.Error != "" {
		return "", errors.New(a.Error)
	}
	return a.IPA, nil
}

// stop ends the process. It keeps nothing, so it is not asked to.
func (c *espeakChild) stop() {
	_ = c.cmd.Process.Kill() // it may have ended already
	_ = c.cmd.Wait()         // which says that it was killed
	_, _ = c.questions.Close(), c.answers.Close()
}
