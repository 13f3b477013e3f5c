package golden

import (
	"fmt"
	"strings"
	"testing"
)

// told records the messages of a test.
type told struct {
	testing.TB
	text string
}

func (*told) Helper()                       {}
func (t *told) Errorf(f string, all ...any) { t.text += fmt.Sprintf(f, all...) }

func TestLostAndNewNamesAreReported(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(writeVariable, "1")
	Names(t, "fruit", []string{"pear", "apple"})
	t.Setenv(writeVariable, "")
	var same, other told
	Names(&same, "fruit", []string{"apple", "pear"})
	Names(&other, "fruit", []string{"apple", "plum"})
	if same.text != "" || !strings.Contains(other.text, "- pear\n+ plum\n") ||
		!strings.Contains(other.text, writeVariable) {
		t.Errorf("%q, %q", same.text, other.text)
	}
}
