package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database records the number of its last step. Of two steps with one number, one would
// not run, nor would a step that fills a gap later.
func TestMigrationsAreNumberedInARow(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("..", "..", "store", "migrations"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(f.Name(), want) {
			t.Errorf("%s: expected a name that begins with %s", f.Name(), want)
		}
	}
}
