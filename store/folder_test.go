package store

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func holdLock(args []string) error {
	release, err := Lock(args[0])
	if err != nil {
		return err
	}
	defer release()
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestOneProcessServesAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, openStore(t, dir).Close())
	cmd := child(t, "hold", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	_, err = cmd.StdinPipe() // open until the kill
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	_, err = Lock(dir)
	wantError(t, err, ErrLocked, dir, fmt.Sprintf("process %d", cmd.Process.Pid), "--data")
	if pid, held, err := Holder(dir); err != nil || !held || pid != fmt.Sprint(cmd.Process.Pid) {
		t.Errorf("the holder is %q, %v, %v", pid, held, err)
	}

	_, err = Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	wantError(t, err, ErrLocked)
	joinStore(t, dir) // commands may still use it

	must(t, cmd.Process.Kill())
	cmd.Wait()
	release, err := Lock(dir)
	must(t, err)
	release()
	release, err = Lock(dir)
	must(t, err)
	release()
}

func TestUnusableFolderIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("x"), 0o600))
	for name, dir := range map[string]string{"a file": file, "under a file": filepath.Join(file, "x"), "none": ""} {
		_, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "--data") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error is %v, want one that names the folder and says what to do", name, err)
		}
		if _, err := Lock(dir); err == nil {
			t.Errorf("%s: can be locked", name)
		}
	}
}

func TestReadOnlyFolderIsExplained(t *testing.T) {
	for name, prepared := range map[string]func(dir string){
		"empty":  func(string) {},
		"in use": func(dir string) { must(t, openStore(t, dir).Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(openTempDir(t), "data")
			must(t, os.Mkdir(dir, 0o755))
			prepared(dir)
			must(t, os.Chmod(dir, 0o555))
			out, err := asOther(t, "open", dir).CombinedOutput()
			if err == nil || !strings.Contains(string(out), ErrReadOnly.Error()) ||
				!strings.Contains(string(out), dir) {
				t.Errorf("says %q, want that %s cannot be written", out, dir)
			}
		})
	}
}

// openTempDir returns a folder whose path every user can enter.
func openTempDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "parley-store-test-")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// asOther runs child as a user to whom file modes apply, also if this one is root.
func asOther(t *testing.T, work string, args ...string) *exec.Cmd {
	cmd := child(t, work, args...)
	if os.Geteuid() == 0 {
		program, err := os.ReadFile(os.Args[0])
		must(t, err)
		cmd.Path = filepath.Join(openTempDir(t), "child") // go test builds where only root can look
		must(t, os.WriteFile(cmd.Path, program, 0o755))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
	}
	return cmd
}

func TestDamagedDatabaseIsExplained(t *testing.T) {
	for name, content := range map[string]string{
		"not a database": strings.Repeat("this is a diary ", 1000),
		"cut":            "SQLite format 3\x00",
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, databaseName), []byte(content), 0o600))
		_, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		wantError(t, err, ErrDamaged, dir)
		kept, readErr := os.ReadFile(filepath.Join(dir, databaseName))
		must(t, readErr)
		if string(kept) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
