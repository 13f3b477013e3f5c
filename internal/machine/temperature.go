package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Temperatures are the hottest of their kind, in degrees Celsius; nil: the kernel reports none.
type Temperatures struct {
	Cores *float64
	Disks *float64
}

// coreSensors and diskSensors are names of drivers in /sys/class/hwmon
// (https://docs.kernel.org/hwmon/); drivetemp is for SATA disks, and nvme for others.
var (
	coreSensors = []string{"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", "scpi_sensors"}
	diskSensors = []string{"drivetemp", "nvme"}
)

// ReadTemperatures returns the temperatures of the machine.
func ReadTemperatures() Temperatures { return temperaturesIn("/sys/class") }

// temperaturesIn reads the sensors below hwmon and, for cores without one, thermal.
func temperaturesIn(class string) (t Temperatures) {
	sensors, _ := filepath.Glob(filepath.Join(class, "hwmon", "hwmon*")) // the pattern is valid
	for _, dir := range sensors {
		name := firstLine(filepath.Join(dir, "name"))
		inputs, _ := filepath.Glob(filepath.Join(dir, "temp*_input"))
		for _, file := range inputs {
			if slices.Contains(coreSensors, name) {
				t.Cores = hottest(t.Cores, file)
			} else if slices.Contains(diskSensors, name) {
				t.Disks = hottest(t.Disks, file)
			}
		}
	}
	if t.Cores != nil {
		return t
	}
	zones, _ := filepath.Glob(filepath.Join(class, "thermal", "thermal_zone*"))
	for _, dir := range zones {
		kind := strings.ToLower(firstLine(filepath.Join(dir, "type")))
		if strings.Contains(kind, "cpu") || strings.Contains(kind, "soc") || kind == "x86_pkg_temp" {
			t.Cores = hottest(t.Cores, filepath.Join(dir, "temp"))
		}
	}
	return t
}

func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// hottest returns the higher of a temperature and the one in a file, in thousandths of a
// degree. A sensor that is asleep or broken reports an error or something absurd.
func hottest(before *float64, file string) *float64 {
	n, err := Number(file)
	celsius := float64(n) / 1000
	if err != nil || celsius <= -50 || celsius >= 200 || before != nil && *before >= celsius {
		return before
	}
	return &celsius
}
