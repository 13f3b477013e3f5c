package espeak

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// startTime is how long the process may take to begin: a tenth of a second,
	// and some seconds on a machine that has no time.
	startTime = 10 * time.Second
	// answerTime is how long it may take for a clause: a millisecond, and a
	// while where others have the cores. What takes seconds will take for ever.
	answerTime = 2 * time.Second
	// endTime is how long the end of a process is waited for that has closed
	// its pipe.
	endTime = 200 * time.Millisecond
	// maxAnswer bounds an answer, in bytes: once the library has written past a
	// buffer, the process may send anything.
	maxAnswer = 1 << 20
	// firstOther is the first file descriptor behind standard error. Go closes
	// its own where a program begins; those that C libraries opened, and those
	// that the box was started with, have to be told to (Linux 5.11).
	firstOther = 3
)

var (
	// errDied means that the process ended before it answered.
	errDied = errors.New("espeak: eSpeak NG died")
	// errHung means that it did not answer in time.
	errHung = errors.New("espeak: eSpeak NG hangs")
)

// process is a running eSpeak NG, as its parent sees it. One goroutine at a time
// asks it; any may stop it.
type process struct {
	cmd       *exec.Cmd
	questions *os.File
	answers   *os.File
	out       *json.Encoder
	bounded   *io.LimitedReader
	in        *json.Decoder
	lacks     []string // walls of the cage that are missing

	ended chan struct{} // closed when the process has ended
	how   error         // valid then
}

// command is this program once more, as it is on the disk now or was when it
// started, without any environment.
func command() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe") // runs: itself
	cmd.Args = []string{childName}
	if dir := os.Getenv("ESPEAK_DATA_PATH"); dir != "" { // as the library has it
		cmd.Args = append(cmd.Args, dir)
	}
	return cmd
}

// start runs a process and waits until it can answer.
func start(cmd *exec.Cmd) (*process, error) {
	theirQuestions, questions, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", errors.Join(err, theirQuestions.Close(), questions.Close()))
	}
	bounded := &io.LimitedReader{R: answers, N: maxAnswer}
	p := &process{
		cmd: cmd, questions: questions, answers: answers,
		out: json.NewEncoder(questions), bounded: bounded, in: json.NewDecoder(bounded),
		ended: make(chan struct{}),
	}
	cmd.Env = []string{}
	cmd.Stdin, cmd.Stdout = theirQuestions, theirAnswers
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	closeOthers := unix.CloseRange(firstOther, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_, _ = theirQuestions.Close(), theirAnswers.Close()
	if err != nil {
		return nil, fmt.Errorf("espeak: %w", errors.Join(err, questions.Close(), answers.Close()))
	}
	var ready readiness
	if err := p.read(&ready, time.Now().Add(startTime)); err != nil {
		p.stop()
		return nil, fmt.Errorf("%w (does the program's main call espeak.Main?)", err)
	}
	if ready.Error != "" {
		p.stop()
		return nil, errors.New(ready.Error)
	}
	p.lacks = ready.Lacks
	if closeOthers != nil {
		p.lacks = append(p.lacks, fmt.Sprintf("closing of files (%v): it has some of the box's open", closeOthers))
	}
	return p, nil
}

// run starts the process and waits for its end. The system takes the end of the
// thread that started a process for the end of its parent, so this goroutine
// keeps its thread.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.how = p.cmd.Wait()
	}
}

// ask returns the phonemes of words; errDied or errHung where there is no
// answer, after which the process is no good any more.
func (p *process) ask(q question, until time.Time) (string, error) {
	if err := p.questions.SetWriteDeadline(until); err != nil {
		return "", fmt.Errorf("%w: %w", errDied, err)
	}
	if err := p.out.Encode(q); err != nil {
		return "", p.fault(err)
	}
	var a answer
	if err := p.read(&a, until); err != nil {
		return "", err
	}
	if a.Error != "" {
		return "", errors.New(a.Error)
	}
	return a.IPA, nil
}

// read takes the next thing that the process says.
func (p *process) read(to any, until time.Time) error {
	p.bounded.N = maxAnswer
	if err := p.answers.SetReadDeadline(until); err != nil {
		return fmt.Errorf("%w: %w", errDied, err)
	}
	if err := p.in.Decode(to); err != nil {
		return p.fault(err)
	}
	return nil
}

// fault says what became of a process that broke off.
func (p *process) fault(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errHung
	}
	select {
	case <-p.ended:
		return fmt.Errorf("%w: %v", errDied, p.how)
	case <-time.After(endTime):
		return fmt.Errorf("%w: %w", errDied, err)
	}
}

// stop ends the process. It keeps nothing, so it is not asked to.
func (p *process) stop() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
	_, _ = p.questions.Close(), p.answers.Close()
}
