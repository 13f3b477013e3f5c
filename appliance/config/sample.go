package config

import (
	"fmt"
	"go/doc/comment"
	"strconv"
	"strings"
)

// sampleSettings returns the settings that people change, those of one group together, with
// an example for those without a default.
func sampleSettings() [][2]string {
	return [][2]string{
		{"listen", ""}, {"tls", ""}, {"origins", "[https://kiosk.example]"}, {"profile", ""},
		{"engines.transcriber", ""}, {languageModel, "llm-qwen"}, {"engines.voice", ""}, {"turn_detection.mode", ""},
		{"chat.max_chats", ""}, {"retention.keep", ""}, {"speech.locale", "en-GB"}, {"speech.loudness_lufs", ""},
		{"web_search.url", "http://127.0.0.1:8888"}, {"kiosk.enabled", ""}, {"phone.listen", "udp://0.0.0.0:5060"},
		{"phone.trunks", "[{name: desk, address: 192.0.2.10}]"},
		{"phone.extensions", "[{number: \"100\", config: Reception}]"}, {"log.level", ""},
	}
}

// Sample returns a configuration file with the settings that people change, each after its
// description and commented out. It sets nothing but the folders of data and packs, unless
// they are empty.
func Sample(data, packs string) string {
	var b strings.Builder
	b.WriteString("# Settings of Parley. Those below are commented out, and have their default or an example: take\n" +
		"# the # before one away to set it. docs/configuration.md has all settings.\n")
	for _, folder := range [][2]string{{"data", data}, {"packs", packs}} {
		if s, _ := findSetting(folder[0]); folder[1] != "" {
			fmt.Fprintf(&b, "\n%s%s: %s\n", wrap(s.Help, "# "), s.Key, strconv.Quote(folder[1]))
		}
	}
	within := ""
	for _, entry := range sampleSettings() {
		s, _ := findSetting(entry[0])
		group, name, inner := strings.Cut(s.Key, ".")
		indent := ""
		if !inner {
			name = group
		} else if indent = "  "; group != within {
			within = group
			fmt.Fprintf(&b, "\n%s:", group)
		}
		value, help := s.Default, s.Help
		if value == "" {
			value, help = entry[1], strings.TrimSuffix(help, ".")+" (default: "+s.DefaultInWords+")."
		}
		fmt.Fprintf(&b, "\n%s%s#%s: %s\n", wrap(help, indent+"# "), indent, name, value)
	}
	return b.String()
}

// wrap breaks text into lines with a prefix.
func wrap(text, prefix string) []byte {
	var p comment.Parser
	lines := comment.Printer{TextPrefix: prefix, TextWidth: 90}
	return lines.Text(p.Parse(text))
}
