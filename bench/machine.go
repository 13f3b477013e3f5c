package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"parley/appliance/config"
	"parley/firmware/packs"
	"parley/internal/machine"
	"parley/internal/version"
)

// Machine describes the machine and the versions of a benchmark.
type Machine struct {
	CPU       string    `json:"cpu"`
	Cores     int       `json:"cores"`
	MemoryGiB Number    `json:"memory_gib"`
	Kernel    string    `json:"kernel"`
	Load      [3]Number `json:"load_average"` // over 1, 5 and 15 minutes, before the benchmark
	Version   string    `json:"version"`
	Commit    string    `json:"commit,omitempty"`
	Profile   string    `json:"profile"`
	Packs     []string  `json:"packs"`         // NAME@VERSION of the measured packs
	Box       string    `json:"box,omitempty"` // address of a box or server elsewhere that was measured
}

// describe describes the machine, with the versions of these packs.
func describe(cfg config.Config, measured ...string) Machine {
	m := Machine{
		CPU:     runtime.GOARCH,
		Cores:   runtime.NumCPU(),
		Kernel:  firstLine("/proc/sys/kernel/osrelease"),
		Version: version.String(),
		Commit:  version.Commit(),
		Profile: cfg.Profile,
		Packs:   versions(cfg.Packs, measured),
	}
	if name := entry("/proc/cpuinfo", "model name"); name != "" {
		m.CPU = name
	}
	m.MemoryGiB = Number(float64(machine.Bytes("/proc/meminfo", "MemTotal")) / (1 << 30))
	for i, f := range strings.Fields(firstLine("/proc/loadavg")) {
		if load, err := strconv.ParseFloat(f, 64); err == nil && i < len(m.Load) {
			m.Load[i] = Number(load)
		}
	}
	return m
}

func versions(dir string, names []string) []string {
	out := []string{}
	for _, name := range names {
		found, err := packs.Find(dir, name)
		if err == nil && len(found) == 1 && found[0].Version != "" {
			name += "@" + found[0].Version
		}
		out = append(out, name)
	}
	return out
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// entry returns the value of the first "key: value" line of a file in /proc, or "".
func entry(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		k, v, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// kilobytes returns the value of an entry such as "VmRSS: 1234 kB", or 0.
func kilobytes(path, key string) float64 {
	var kb float64
	if _, err := fmt.Sscanf(entry(path, key), "%f kB", &kb); err != nil {
		return 0
	}
	return kb
}
