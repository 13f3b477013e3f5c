package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHottestSensorOfEachKindCounts(t *testing.T) {
	for name, one := range map[string]struct {
		files        map[string]string
		cores, disks float64 // 0: none
	}{
		"a PC": {map[string]string{
			"hwmon/hwmon0/name": "acpitz\n", "hwmon/hwmon0/temp1_input": "99000\n",
			"hwmon/hwmon1/name": "nvme\n", "hwmon/hwmon1/temp1_input": "38850\n", "hwmon/hwmon1/temp2_input": "52850\n",
			"hwmon/hwmon2/name": "coretemp\n", "hwmon/hwmon2/temp1_input": "61000\n",
			"hwmon/hwmon2/temp2_input":   "63500\n",
			"thermal/thermal_zone0/type": "x86_pkg_temp\n", "thermal/thermal_zone0/temp": "70000\n",
		}, 63.5, 52.85},
		"a small board": {map[string]string{
			"hwmon/hwmon0/name": "drivetemp\n", "hwmon/hwmon0/temp1_input": "-128000\n", // the disk is asleep
			"thermal/thermal_zone0/type": "cpu-thermal\n", "thermal/thermal_zone0/temp": "48312\n",
			"thermal/thermal_zone1/type": "gpu-thermal\n", "thermal/thermal_zone1/temp": "90000\n",
		}, 48.312, 0},
		"a virtual machine": {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range one.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := temperaturesIn(dir)
			if !is(got.Cores, one.cores) || !is(got.Disks, one.disks) {
				t.Errorf("cores %v and disks %v, want %v and %v", got.Cores, got.Disks, one.cores, one.disks)
			}
		})
	}
}

func is(got *float64, want float64) bool {
	if got == nil || want == 0 {
		return got == nil && want == 0
	}
	return *got == want
}
