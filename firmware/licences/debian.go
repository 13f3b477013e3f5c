package licences

// OfDebian returns what the program links, opens or runs of Debian. The licences are those of Debian's builds. Packages
// are named without the number that differs between releases of Debian.
func OfDebian() []Part {
	var parts []Part
	for _, row := range [...]struct {
		name, licence, debian string
	}{
		{"GNU C library", "LGPL-2.1-or-later", "libc6"},
		{"Opus", "BSD-3-Clause", "libopus0"},
		{"eSpeak NG", "GPL-3.0-or-later", "libespeak-ng1"},
		{"eSpeak NG", "GPL-3.0-or-later", "espeak-ng-data"},
		{"ALSA", "LGPL-2.1-or-later", "libasound"},
		{"PulseAudio", "LGPL-2.1-or-later", "libpulse0"},
		{"SpeexDSP", "BSD-3-Clause", "libspeexdsp1"},
		{"mpg123", "LGPL-2.1-only", "libmpg123-0"},
		{"LAME", "LGPL-2.0-or-later", "libmp3lame0"},
		{"libavcodec", "GPL-2.0-or-later", "libavcodec"},
		{"FFmpeg", "GPL-2.0-or-later", "ffmpeg"},
		{"certificate authorities", "MPL-2.0", "ca-certificates"},
		{"pip", "MIT", "python3-pip"},
		{"npm", "Artistic-2.0", "npm"},
	} {
		parts = append(parts, Part{Kind: System, Name: row.name, Licence: row.licence, Package: row.debian})
	}
	return parts
}
