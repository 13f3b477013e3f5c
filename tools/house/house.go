// Package house holds the rules of the source tree, as tests: which package may import
// which, and what no package does.
package house

import (
	"slices"
	"strings"
)

// imports lists, for every package, which packages of this module it may import
// outside its tests. The list is exact: the test fails for a package without a row, and
// for a permission that is not used.
//
// The layers, from below: internal and the leaves (contract, connection, audio, text,
// language, store, web); engine; chat, speech, expression, recording and webhook, which
// know each other only through small interfaces that their users declare; api and
// line; appliance, appliance/box, bench and cmd, which connect the rest. A comment in a
// row gives the reason for an import that leaves this order.
var imports = []struct {
	importer string // a name that ends in / stands for all packages below it
	imported string // separated by white space; * stands for all packages
}{
	// Leaves. They know no part of the box; internal/* are tools that would suit any
	// program.
	{"internal/addresses", ""},
	{"internal/unbounded", ""},
	{"internal/bundle", "internal/durable"},
	{"internal/isolate", ""},
	{"internal/clib", ""},
	{"internal/disk", ""},
	{"internal/durable", ""},
	{"internal/levenshtein", ""},
	{"internal/golden", ""},
	{"internal/layout", ""},
	{"internal/limit", ""},
	{"internal/machine", ""},
	{"internal/packtest", "internal/layout"},
	{"internal/password", ""},
	{"internal/progress", ""},
	{"internal/signing", "internal/durable"},
	{"internal/sipuri", ""},
	{"internal/version", ""},
	{"appliance/contract", "internal/addresses"}, // checks the URLs of records
	{"appliance/connection", "appliance/contract"},
	{"appliance/audio", "appliance/audio/filter internal/isolate internal/clib"}, // decoders run in confined processes
	{"appliance/audio/clean", "appliance/audio appliance/audio/fourier internal/clib"},
	{"appliance/audio/clean/acoustics", "appliance/audio/fourier"},
	{"appliance/audio/filter", ""},
	{"appliance/audio/fourier", ""},
	{"appliance/audio/prediction", ""},
	{"appliance/audio/shape", "appliance/audio/filter appliance/audio/prediction"},
	{"appliance/audio/soundcard", "internal/clib"},
	{"appliance/audio/soundcheck",
		"appliance/audio appliance/audio/clean appliance/audio/fourier appliance/audio/soundcard"},
	{"appliance/media", "appliance/audio internal/isolate"}, // ffmpeg runs in confined processes
	{"appliance/text", "internal/levenshtein"},
	{"appliance/language", ""},
	{"appliance/voice", "appliance/audio/shape"}, // a recipe names how a voice is altered
	{"appliance/search", ""},
	{"store", "internal/durable internal/layout internal/password"},
	{"web", ""},
	{"web/bundle", ""},

	// What a machine needs before it is a box.
	{"firmware/packs", "internal/bundle internal/disk internal/durable internal/progress"},
	{"firmware/release", "internal/bundle internal/disk internal/durable internal/progress internal/signing"},
	{"firmware/release/debian", "internal/bundle internal/disk internal/progress"},
	{"firmware/backup", "internal/bundle internal/disk internal/durable internal/layout internal/progress"},
	{"firmware/licences", "firmware/packs internal/version"},
	{"firmware/update", `firmware/release internal/disk internal/durable internal/layout internal/progress
		internal/signing internal/version`},
	{"firmware/doctor", "internal/disk internal/layout internal/machine internal/progress firmware/packs"},
	// It checks and stores records as the API does, and recordings as chats do.
	{"firmware/importer", "appliance/audio appliance/contract appliance/media internal/progress store"},

	// Engines.
	{"appliance/engine", "appliance/text"},
	{"appliance/engine/abridge", ""},
	{"appliance/engine/enginetest", "appliance/engine"},
	{"appliance/engine/espeak", "internal/isolate internal/clib"},
	{"appliance/engine/llama", `appliance/engine appliance/engine/abridge appliance/engine/schema appliance/text
		internal/clib internal/durable`},
	{"appliance/engine/markup", "appliance/engine"},
	{"appliance/engine/onnx", `appliance/audio appliance/audio/fourier appliance/engine appliance/text
		internal/durable`},
	{"appliance/engine/remote", "appliance/audio appliance/engine internal/addresses internal/machine"},
	{"appliance/engine/schema", ""},

	// Services. Below chat, the packages share the events and facts of chat/turn. All
	// of them take engines as the interfaces of engine, and store rows of store.
	{"appliance/chat", `appliance/answers appliance/chat/ear appliance/chat/record appliance/chat/reply
		appliance/chat/turn appliance/connection appliance/contract appliance/engine store
		appliance/text`}, // text.Options, which chat hands from the settings of an account to the mouth
	{"appliance/chat/turn", "appliance/contract appliance/language internal/levenshtein"}, // levenshtein is pure
	{"appliance/chat/ear", "appliance/chat/turn appliance/contract appliance/audio appliance/engine"},
	{"appliance/chat/reply", `appliance/answers appliance/chat/turn appliance/connection appliance/contract
		appliance/language appliance/audio appliance/text appliance/engine
		appliance/engine/markup appliance/engine/schema`}, // what models write, and what tools take: no model is called
	{"appliance/chat/record", "appliance/chat/turn appliance/connection appliance/contract store"},
	{"appliance/answers", "appliance/contract appliance/engine"},
	{"appliance/answers/sheet", "appliance/contract"},
	{"appliance/expression", "appliance/audio/fourier appliance/audio/prediction appliance/contract"},
	{"appliance/analysis", `appliance/contract appliance/engine appliance/expression appliance/expression/face
		appliance/media appliance/text`},
	{"appliance/expression/face", "appliance/engine"},
	{"appliance/recording", `appliance/contract appliance/audio appliance/engine store internal/unbounded
		internal/durable internal/layout`},
	{"appliance/speech", `appliance/contract appliance/audio appliance/text appliance/engine store internal/unbounded
		internal/levenshtein internal/limit`},
	{"appliance/batch", `appliance/analysis appliance/batch/source appliance/contract appliance/engine internal/disk
		internal/durable internal/layout store`},
	{"appliance/stream", `appliance/analysis appliance/audio appliance/contract appliance/engine appliance/media
		internal/limit`},
	{"appliance/openai", `appliance/analysis appliance/audio appliance/contract appliance/engine
		appliance/engine/schema appliance/media internal/limit`},
	{"appliance/batch/source", "internal/addresses internal/disk internal/machine"},
	{"appliance/answers/sound", "appliance/engine appliance/text internal/disk internal/durable"},
	{"appliance/webhook", "internal/addresses internal/machine store"},

	// Many boxes and their hub.
	{"fleet", ""},
	{"fleet/agent", "fleet fleet/bus internal/durable store"},
	{"fleet/door", "appliance/contract fleet"}, // the errors that clients see
	{"fleet/server", "fleet internal/durable"},
	{"fleet/bus", "fleet"},
	{"fleet/fleettest", "appliance/certs fleet/bus fleet/server"},
	{"fleet/chaos", ""}, // a test
	{"fleet/hub", "appliance/contract fleet fleet/bus fleet/door store"},

	// Plugins. plugins/* would suit any host that has a store; none knows the API.
	{"plugins/manifest", "internal/addresses"},
	{"plugins/sdk", ""},
	{"plugins/sdk/go", ""},
	{"plugins/author", "plugins/manifest plugins/sandbox plugins/sdk"},
	{"plugins/sandbox", "internal/addresses internal/machine plugins/manifest"},
	{"plugins/registry", "plugins/manifest plugins/sandbox store internal/durable internal/layout internal/signing"},

	// Settings, and adapters that give a part of the box the shape that others ask for.
	{"appliance/config", `appliance/contract appliance/text fleet internal/addresses internal/durable internal/layout
		internal/levenshtein internal/signing internal/sipuri
		firmware/packs`}, // where packs lie, and which are the defaults
	{"appliance/certs", "internal/durable"},
	{"appliance/metrics", "appliance/engine"}, // the queue of engine.Gate
	{"appliance/engines", `appliance/audio appliance/audio/shape appliance/config appliance/contract appliance/engine
		appliance/engine/espeak appliance/engine/llama appliance/engine/onnx appliance/engine/remote
		appliance/expression/face
		firmware/packs internal/layout internal/machine internal/version
		appliance/voice`}, // the recipes of the voices that it opens
	{"appliance/voices", `appliance/config appliance/contract appliance/engine appliance/engines appliance/text
		appliance/voice store
		appliance/speech`}, // speech.Voice, which it returns as speech.VoiceMaker asks for
	{"appliance/plugins", `appliance/config appliance/contract appliance/engine/schema appliance/metrics
		internal/signing plugins/author plugins/manifest plugins/sandbox plugins/registry store
		appliance/chat/reply appliance/chat/turn`}, // the calls and tools that it translates for plugins

	// Edges.
	{"appliance/api", `appliance/answers appliance/answers/sheet appliance/api/describe appliance/audio
		appliance/connection appliance/contract appliance/engine appliance/openai appliance/speech appliance/text
		fleet/door
		internal/limit internal/password store web`},
	{"appliance/api/describe", "appliance/contract"},
	{"appliance/line", "appliance/connection appliance/contract"},
	{"appliance/line/decode", "appliance/audio appliance/contract appliance/engine"},
	{"appliance/line/rtp", "appliance/audio appliance/contract appliance/engine"},
	{"appliance/line/phone/media", "appliance/audio appliance/contract appliance/engine appliance/line/rtp"},
	{"appliance/line/phone/sip", "appliance/contract appliance/line/phone/media internal/sipuri"},
	{"appliance/line/phone", `appliance/connection appliance/contract appliance/engine appliance/language
		appliance/line`},
	{"appliance/line/speaker", `appliance/audio appliance/audio/clean appliance/connection appliance/contract
		appliance/engine appliance/language appliance/line internal/levenshtein`},
	{"appliance/line/webrtc", `appliance/audio appliance/connection appliance/contract appliance/engine
		appliance/line appliance/line/rtp internal/unbounded`},
	{"appliance/line/phone/stream", `appliance/audio appliance/connection appliance/contract appliance/engine
		appliance/line appliance/line/rtp
		appliance/line/ws`}, // the WebSocket below the provider's protocol
	{"appliance/line/ws", `appliance/audio appliance/connection appliance/contract appliance/line
		appliance/line/decode internal/unbounded`},

	// Programs, and what connects the parts.
	{"appliance", "*"},
	{"appliance/box", "*"},
	{"bench", "*"}, // measures any part of the box
	{"bench/cases", ""},
	{"cmd/", "*"},
	{"tools/licences", "firmware/licences"},
	{"tools/sbom", "firmware/licences firmware/packs internal/version"},
	{"tools/", ""},
}

// isBench reports whether a package belongs to parley-bench, a program of its own that
// is not installed. No other package may import it.
func isBench(p string) bool {
	return p == "bench" || strings.HasPrefix(p, "bench/") || p == "cmd/parley-bench"
}

// forTests lists the packages that only tests import.
var forTests = []string{"appliance/engine/enginetest", "fleet/fleettest", "internal/packtest"}

// permitted returns the packages that a package may import, and false if the package has
// no row.
func permitted(importer string) (imported []string, ok bool) {
	for _, r := range imports {
		if r.importer == importer || strings.HasSuffix(r.importer, "/") && strings.HasPrefix(importer, r.importer) {
			return strings.Fields(r.imported), true
		}
	}
	return nil, false
}

// allowed reports whether a package may import another one outside its tests.
func allowed(importer, imported string) bool {
	if slices.Contains(forTests, imported) || isBench(imported) && !isBench(importer) {
		return false
	}
	all, _ := permitted(importer)
	return slices.Contains(all, "*") || slices.Contains(all, imported)
}
