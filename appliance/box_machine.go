package appliance

import (
	"fmt"
	"os"
	"strings"
)

// kernelBytes reads one size out of a file of the kernel's that has them in kB, a
// line each; 0 where it is not there.
func kernelBytes(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kb); err == nil {
			return kb * 1024
		}
	}
	return 0
}
