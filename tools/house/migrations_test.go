package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database knows by the number of its last step which ones it has had: two
// steps of a number, or a gap that is filled later, would be left out.
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
