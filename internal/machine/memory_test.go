package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSizesAreInBytes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	text := "MemTotal:       16318412 kB\nMemFree:         1 kB\nHugePages_Total:       3\nName:\tparley\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{
		"MemTotal":        16318412 << 10,
		"MemFree":         1 << 10,
		"Mem":             0, // the beginning of a name is not the name
		"HugePages_Total": 0, // a count, no size
		"Name":            0,
	} {
		if got := Bytes(file, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := Bytes(file+".not", "MemTotal"); got != 0 {
		t.Errorf("of no file: %d", got)
	}
	if err := os.WriteFile(file, []byte("536870912\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Number(file); n != 512<<20 || err != nil {
		t.Errorf("a number alone: %d, %v", n, err)
	}
	if err := os.WriteFile(file, []byte("max\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Number(file); err == nil {
		t.Error("no limit is read as one")
	}
	total, free := Bytes("/proc/meminfo", "MemTotal"), Bytes("/proc/meminfo", "MemAvailable")
	if resident := Bytes("/proc/self/status", "VmRSS"); resident <= 0 || free <= 0 || total <= resident ||
		total <= free {
		t.Errorf("of this machine: %d in all, %d free, this process %d", total, free, resident)
	}
}
