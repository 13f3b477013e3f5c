// Package house holds the rules of the house, as tests: which package may know
// which, and what no package does.
package house

import (
	"slices"
	"strings"
)

// mayKnow says for each package which others of ours it may import. A rule for
// a folder (ending in /) is for all packages under it. What stands here is the
// whole truth: a package without a rule fails the test.
var mayKnow = []struct {
	who   string
	knows string // separated by spaces; * is everybody
}{
	{"appliance/contract", "internal/addresses"},
	{"appliance/audio", "appliance/audio/filter internal/isolate internal/clib"},
	{"appliance/audio/clean", "appliance/audio appliance/audio/fourier internal/clib"},
	{"appliance/audio/clean/acoustics", "appliance/audio/fourier"},
	{"appliance/audio/filter", ""},
	{"appliance/audio/fourier", ""},
	{"appliance/audio/prediction", ""},
	{"appliance/audio/shape", "appliance/audio/filter appliance/audio/prediction"},
	{"appliance/audio/soundcard", "internal/clib"},
	{"appliance/audio/soundcheck",
		"appliance/audio appliance/audio/clean appliance/audio/fourier appliance/audio/soundcard"},
	{"appliance/text", "internal/levenshtein"},
	{"appliance/language", ""},
	{"appliance/voice", "appliance/audio/shape"},
	{"internal/addresses", ""},
	{"internal/unbounded", ""},
	{"internal/bundle", "internal/durable"},
	{"internal/isolate", ""},
	{"internal/clib", ""},
	{"internal/disk", ""},
	{"internal/durable", ""},
	{"internal/golden", ""},
	{"internal/levenshtein", ""},
	{"internal/layout", ""},
	{"internal/limit", ""},
	{"internal/machine", ""},
	{"internal/packtest", "internal/layout"},
	{"internal/progress", ""},
	{"internal/version", ""},
	{"store", "internal/durable internal/layout"},
	{"firmware/packs", "internal/bundle internal/disk internal/durable internal/progress"},
	{"firmware/backup", "internal/bundle internal/disk internal/durable internal/layout internal/progress"},
	{"firmware/doctor", "internal/disk internal/layout internal/machine internal/progress firmware/packs"},
	{"appliance/engine", "appliance/audio appliance/text"},
	{"appliance/engine/schema", ""},
	{"appliance/engine/enginetest", "appliance/engine"},
	{"appliance/engine/abridge", ""},
	{"appliance/engine/llama",
		"appliance/engine appliance/engine/abridge appliance/engine/schema appliance/text internal/clib " +
			"internal/durable"},
	{"appliance/engine/onnx",
		"appliance/audio appliance/audio/fourier appliance/text appliance/engine internal/durable"},
	{"appliance/engine/remote", "appliance/engine internal/addresses internal/machine"},
	{"appliance/engine/espeak", "internal/isolate internal/clib"},
	{"appliance/engine/", "appliance/audio appliance/text appliance/engine"},
	{"appliance/chat", "appliance/chat/turn appliance/chat/ear appliance/chat/reply appliance/chat/record " +
		"appliance/contract appliance/engine appliance/text store"},
	{"appliance/chat/turn", "appliance/contract appliance/language internal/levenshtein"},
	{"appliance/chat/ear", "appliance/chat/turn appliance/contract appliance/audio appliance/engine"},
	{"appliance/chat/reply", "appliance/chat/turn appliance/contract appliance/language " +
		"appliance/audio appliance/text appliance/engine appliance/engine/markup appliance/engine/schema"},
	{"appliance/chat/record", "appliance/chat/turn appliance/contract store"},
	{"appliance/expression", "appliance/audio/fourier appliance/audio/prediction appliance/contract"},
	{"appliance/recording",
		"appliance/contract appliance/audio appliance/engine store internal/durable internal/layout " +
			"internal/unbounded"},
	{"appliance/speech",
		"appliance/contract appliance/audio appliance/text appliance/engine store internal/levenshtein " +
			"internal/limit internal/unbounded"},
	{"appliance/webhook", "internal/addresses internal/machine store"},
	{"web", ""},
	{"web/bundle", ""},
	{"appliance/engines", "appliance/chat appliance/chat/ear appliance/chat/turn appliance/config appliance/contract " +
		"appliance/audio appliance/audio/shape appliance/engine appliance/engine/espeak appliance/engine/llama " +
		"appliance/engine/onnx appliance/engine/remote appliance/voice firmware/packs internal/layout internal/machine"},
	{"appliance/plugins", "appliance/api appliance/chat appliance/chat/reply appliance/chat/turn appliance/config " +
		"appliance/contract appliance/engine/schema appliance/metrics plugins/author plugins/manifest " +
		"plugins/sandbox plugins/shelf store"},
	{"appliance/voices", "appliance/config appliance/contract appliance/engine appliance/engines appliance/speech " +
		"appliance/text appliance/voice store"},
	{"appliance/api", "web appliance/api/describe appliance/contract appliance/audio appliance/text appliance/engine " +
		"appliance/chat appliance/speech internal/limit store"},
	{"appliance/api/describe", "appliance/contract"},
	{"appliance/config",
		"appliance/contract appliance/text firmware/packs internal/addresses internal/levenshtein internal/layout"},
	{"appliance/search", ""},
	{"appliance/certs", "internal/durable"},
	{"appliance/metrics", "appliance/engine"},
	{"appliance/line/decode", "appliance/contract appliance/audio appliance/engine"},
	{"appliance/line", "appliance/contract"},
	{"appliance/line/", "internal/levenshtein internal/unbounded appliance/line appliance/line/decode " +
		"appliance/contract " +
		"appliance/audio appliance/audio/clean appliance/language appliance/text appliance/engine"},
	{"plugins/manifest", "internal/addresses"},
	{"plugins/sdk", ""},
	{"plugins/sdk/go", ""},
	{"plugins/author", "plugins/manifest plugins/sandbox plugins/sdk"},
	{"plugins/sandbox", "internal/addresses internal/machine plugins/manifest"},
	{"plugins/shelf", "plugins/manifest plugins/sandbox store internal/durable internal/layout"},
	{"appliance", "*"},
	{"appliance/box", "*"},
	{"bench", "*"},
	{"bench/yardstick", "appliance/engine appliance/engine/llama store"},
	{"bench/cases", ""},
	{"bench/desks", "appliance/text"},
	{"cmd/", "*"},
	{"tools/", ""},
}

// measures tells whether a package belongs to parley-bench, a program of its own
// that is not installed: nothing else may know it.
func measures(p string) bool {
	return p == "bench" || strings.HasPrefix(p, "bench/") || p == "cmd/parley-bench"
}

// forTests are packages that only tests import.
var forTests = []string{"appliance/engine/enginetest", "internal/packtest"}

// allowed tells whether who may import whom outside its tests; known is false when
// there is no rule for who.
func allowed(who, whom string) (ok, known bool) {
	if slices.Contains(forTests, whom) || measures(whom) && !measures(who) {
		return false, true
	}
	for _, r := range mayKnow {
		if r.who != who && !(strings.HasSuffix(r.who, "/") && strings.HasPrefix(who, r.who)) {
			continue
		}
		for _, k := range strings.Fields(r.knows) {
			if k == "*" || k == whom {
				return true, true
			}
		}
		return false, true
	}
	return false, false
}
