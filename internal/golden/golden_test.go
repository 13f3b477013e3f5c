package golden

import (
	"fmt"
	"reflect"
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

type listed struct{}

func (listed) WireType() reflect.Type {
	return reflect.TypeFor[[]struct {
		B int `json:"b"`
	}]()
}

func TestFieldsAreThoseOnTheWire(t *testing.T) {
	type message struct {
		C listed `json:"c,omitzero"`
		A *int   `json:"a"`
	}
	if got := Fields(reflect.TypeFor[message]()); got != "{a c?{b}}" {
		t.Error(got)
	}
}

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
