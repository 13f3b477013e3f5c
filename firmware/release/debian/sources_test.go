package debian

import "testing"

func TestEachPackageNamesItsSource(t *testing.T) {
	for control, want := range map[string][2]string{
		"Package: ffmpeg\nVersion: 7:5.1\n":                                            {"ffmpeg", "7:5.1"},
		"Package: libavcodec\nSource: ffmpeg\nVersion: 7:5.1\n":                        {"ffmpeg", "7:5.1"},
		"Package: libx\nSource: x-source (1.2-3)\nVersion: 1.2-3+b1\n":                 {"x-source", "1.2-3"},
		"Package: liby\nVersion: 2\nDescription: y\n Source: not a field of its own\n": {"liby", "2"},
	} {
		if name, version := sourceOf(control); [2]string{name, version} != want {
			t.Errorf("%q comes from %s=%s, want %q", control, name, version, want)
		}
	}
}
