package batch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/store"
)

// childEnv holds the data folder that this program, as a child process, serves until it
// is killed.
const childEnv = "PARLEY_BATCH_TEST_CHILD"

// runUntilKilled runs the jobs of a data folder, prints the text of each source, and
// never finishes one that begins with "endless".
func runUntilKilled(dir string) error {
	log := slog.New(slog.DiscardHandler)
	records, err := store.Open(context.Background(), dir, log)
	if err != nil {
		return err
	}
	Open(context.Background(), Parts{Data: dir, Records: records, Log: log}).Run(context.Background(),
		analyse(func(ctx context.Context, from analysis.Source, r analysis.Request) (analysis.Report, error) {
			fmt.Println(from.Text)
			if strings.HasPrefix(from.Text, "endless") {
				select {}
			}
			return words(ctx, from, r)
		}), nil)
	return errors.New("the runner returned")
}

// killAt runs the jobs of the box in another process and kills it when it prints a line.
// It returns the lines.
func (b *testBox) killAt(line string) (printed []string) {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+b.dir), os.Stderr
	out, err := cmd.StdoutPipe()
	b.must(err)
	b.must(cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if printed = append(printed, lines.Text()); lines.Text() == line {
			b.must(cmd.Process.Signal(syscall.SIGKILL))
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		b.t.Fatalf("the box ended by itself: %v after %v", err, printed)
	}
	return printed
}

func TestKilledJobStartsAgainOnceAndThenFails(t *testing.T) {
	b := newBox(t)
	id := b.submit(`{"text":["one","two","endless"],"callback_url":"https://example.com/done"}`)
	b.close()
	if got := strings.Join(b.killAt("endless"), " "); got != "one two endless" {
		t.Errorf("first it analysed %s", got)
	}
	b.open()
	j, err := b.Job(t.Context(), b.account, id)
	b.must(err)
	if j.State.Status != contract.JobQueued || j.State.StartedTimestampMS != 0 {
		t.Errorf("after the first kill it is %+v", j.State)
	}
	b.close()
	if got := strings.Join(b.killAt("endless"), " "); got != "endless" {
		t.Errorf("then it analysed %s; the others have their results", got)
	}
	b.open()
	j, err = b.Job(t.Context(), b.account, id)
	b.must(err)
	if s := j.State; s.Status != contract.JobFailed || *s.Message != "the box stopped twice while the job ran" ||
		s.StartedTimestampMS == 0 || s.EndedTimestampMS < s.StartedTimestampMS {
		t.Errorf("after the second kill it is %+v", s)
	}
	if left, err := os.ReadDir(string(b.folder(id))); err != nil || len(left) > 0 {
		t.Errorf("the folder of the failed job still has %v, %v", left, err)
	}
	sent, err := b.records.Webhooks(t.Context(), store.WebhookFilter{}, 9)
	if err != nil || len(sent) != 1 || sent[0].ChatID != id {
		t.Errorf("the outbox is %+v, %v", sent, err)
	}
}

func TestKilledJobFinishesAtItsSecondStart(t *testing.T) {
	b := newBox(t)
	id := b.submit(`{"text":["one","endless"]}`)
	b.close()
	b.killAt("endless")
	b.open()
	b.start(words)
	if s := b.wait(id).State; s.Status != contract.JobCompleted || *s.NumPredictions != 2 {
		t.Errorf("ended as %+v", s)
	}
	if r := b.predictions(id); len(r) != 2 || r[0].Results.Predictions[0].File != "text_0" {
		t.Errorf("the results are %+v", r)
	}
}

// However often the box is stopped properly, its job is not failed by it.
func TestStopPutsTheJobBackWithoutCounting(t *testing.T) {
	b := newBox(t)
	id := b.submit(`{"text":["one","two"]}`)
	for range maxAttempts + 2 {
		at := make(chan string)
		b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
			if s.Text == "one" {
				return words(ctx, s, r)
			}
			at <- s.Text
			<-ctx.Done()
			return analysis.Report{}, ctx.Err()
		})
		<-at
		b.close()
		b.open()
		if j, err := b.Job(t.Context(), b.account, id); err != nil || j.State.Status != contract.JobQueued {
			t.Fatalf("after a stop it is %+v, %v", j.State, err)
		}
	}
	b.start(words)
	if s := b.wait(id).State; s.Status != contract.JobCompleted || *s.NumPredictions != 2 {
		t.Errorf("ended as %+v", s)
	}
}

func TestUploadsThatACrashInterruptedAreDeleted(t *testing.T) {
	b := newBox(t)
	b.submit(`{}`, "a=b")
	stale := filepath.Join(b.root(), uploadPrefix+"123")
	b.must(os.MkdirAll(filepath.Join(stale, "source"), 0o700))
	b.close()
	b.open()
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestDeletedJobIsStoppedAndLeavesNothing(t *testing.T) {
	b := newBox(t)
	at := make(chan bool)
	b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		if s.Path == "" {
			return words(ctx, s, r)
		}
		at <- true
		<-ctx.Done()
		return analysis.Report{}, ctx.Err()
	})
	id := b.submit(`{}`, "a=b")
	<-at
	if err := b.Delete(t.Context(), "another", id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account deletes it: %v", err)
	}
	b.must(b.Delete(t.Context(), b.account, id))
	if _, err := b.Job(t.Context(), b.account, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	b.wait(b.submit(`{"text":["next"]}`)) // the runner goes on
	entries, err := os.ReadDir(b.root())
	if err != nil || len(entries) != 1 {
		t.Errorf("left is %v, %v", entries, err)
	}
}
