package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

// disturbance is what is to be heard over a speaking assistant.
type disturbance struct {
	kind string
	name string
	pcm  []float32 // at engine.SpeechRateHz; of an echo there is none beforehand
	echo echo
}

// echo is how much later, and so much softer, than what was played it comes back.
type echo struct {
	delay time.Duration
	gain  float32
}

// echoes are the one that every box has to know, and others: of a headset, a
// loudspeaker far away or near, a slow line, one turned up, and one turned down.
var echoes = [eachKind]struct {
	delay time.Duration
	dB    float64
}{
	{80 * time.Millisecond, -20}, {20 * time.Millisecond, -20}, {150 * time.Millisecond, -20},
	{300 * time.Millisecond, -20}, {80 * time.Millisecond, -10}, {80 * time.Millisecond, -30},
}

// The kinds of disturbances. All but speech are to leave the assistant alone.
const (
	aCough       = "cough"
	aNoise       = "noise"
	aWord        = "word"
	aBackchannel = "backchannel"
	anEcho       = "echo"
	someSpeech   = "speech"
)

const (
	// eachKind is how many there are of a kind.
	eachKind = 6
	// A short word is one that is over before it counts as an interruption.
	longestWord = 600 * time.Millisecond
	// Speech that must interrupt is of a second at least.
	shortestSpeech, longestSpeech = 1500 * time.Millisecond, 3 * time.Second
	// longestNoise cuts noises that go on and on.
	longestNoise = 1200 * time.Millisecond
)

// disturbances are eachKind of every kind: words and speech of people, noises
// recorded and made, coughs made, and backchannels spoken by voices other than
// the box's. with says of what they are made, for the report.
func disturbances(ctx context.Context, o Options, said []recording) (all []disturbance, with map[string]string,
	err error) {
	var backchannels []disturbance
	var who string
	if o.wants(aBackchannel) {
		if backchannels, who, err = spokenBackchannels(ctx, o); err != nil {
			return nil, nil, err
		}
	}
	with = map[string]string{
		aCough: "made: bursts of shaped noise",
		aNoise: "tones and animals recorded for telephones where they are there, else made",
		aWord:  "one recorded word", aBackchannel: "spoken by " + who,
		anEcho: "its own voice, 10 to 30 dB softer and 20 to 300 ms later", someSpeech: "recorded",
	}
	words := shortWords(said)
	speech := turnsBetween(said, shortestSpeech, longestSpeech, eachKind)
	for i := range eachKind {
		all = append(all,
			disturbance{kind: aCough, name: fmt.Sprintf("cough %d", i+1), pcm: cough(i)},
			noise(i),
			disturbance{kind: anEcho, name: fmt.Sprintf("%v later, %v dB", echoes[i].delay, echoes[i].dB),
				echo: echo{echoes[i].delay, float32(math.Pow(10, echoes[i].dB/20))}},
		)
		if i < len(words) {
			all = append(all, disturbance{kind: aWord, name: words[i].Name,
				pcm: heardOf(words[i].PCM, engine.SpeechRateHz)})
		}
		if i < len(backchannels) {
			all = append(all, backchannels[i])
		}
		if i < len(speech) {
			all = append(all, disturbance{kind: someSpeech, name: speech[i].Name, pcm: speech[i].PCM})
		}
	}
	all = slices.DeleteFunc(all, func(d disturbance) bool { return !o.wants(d.kind) })
	return all, with, nil
}

// shortWords are recordings of one short word each.
func shortWords(said []recording) (words []recording) {
	for _, r := range said {
		begin, end, ok := span(r.PCM, engine.SpeechRateHz)
		if ok && end-begin <= longestWord && end-begin > longestWord/2 && r.Text != "" &&
			len(strings.Fields(r.Text)) == 1 && !strings.HasPrefix(r.Name, "letters/") {
			words = append(words, r)
		}
	}
	some := make([]recording, 0, eachKind)
	for i := 0; i < eachKind && i < len(words); i++ {
		some = append(some, words[int(spread(i)*float64(len(words)))])
	}
	return some
}

// turnsBetween are n recordings without a pause of such a length.
func turnsBetween(said []recording, shortest, longest time.Duration, n int) []recording {
	fit := slices.DeleteFunc(slices.Clone(said), func(r recording) bool {
		return r.duration() < shortest || r.duration() > longest
	})
	return turns(fit, n)
}

// spokenBackchannels are what listeners say, by voices other than the box's
// where there are some.
func spokenBackchannels(ctx context.Context, o Options) (all []disturbance, who string, err error) {
	voices, err := voicePacks(o.Config)
	if err != nil {
		return nil, "", err
	}
	own := filepath.Base(voiceFolder(o.Config))
	others := slices.DeleteFunc(voices, func(name string) bool { return name == own })
	if len(others) == 0 {
		others = []string{own}
	}
	o.say("speaking backchannels with %s", strings.Join(others, ", "))
	opened, err := engines.Open(ctx, o.Config, engines.Speaking, o.Log)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = cmp.Or(err, opened.Close()) }()
	for i, words := range []string{"Mm-hm.", "Right.", "Yeah.", "Okay.", "Uh-huh.", "I see."} {
		voice, err := opened.Voice(ctx, others[i%len(others)])
		if err != nil {
			return nil, "", err
		}
		speech, err := engine.SpeakWhole(ctx, voice, words, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
		if err != nil {
			return nil, "", err
		}
		pcm := audio.Resample(speech.PCM, speech.RateHz, engine.SpeechRateHz)
		all = append(all, disturbance{kind: aBackchannel, name: words + " by " + others[i%len(others)],
			pcm: heardOf(pcm, engine.SpeechRateHz)})
	}
	return all, strings.Join(others, ", "), nil
}

// cough is the i-th of several coughs: two or three bursts of noise through the
// resonance of a throat, each as quick to begin and as slow to end as a cough's,
// and a little breath behind.
func cough(i int) []float32 {
	chance := rand.New(rand.NewPCG(uint64(i), 1))
	out := make([]float32, 0, engine.SpeechRateHz)
	for burst := range 2 + i%2 {
		n := int((0.16 + 0.1*chance.Float64()) * engine.SpeechRateHz)
		turn := 2 * math.Pi * (450 + 250*chance.Float64()) / engine.SpeechRateHz
		const narrow = 0.97
		var y1, y2 float64
		for j := range n {
			t := float64(j) / engine.SpeechRateHz
			shape := (1 - math.Exp(-t/0.004)) * math.Exp(-t/0.06)
			white := 2*chance.Float64() - 1
			y := white + 2*narrow*math.Cos(turn)*y1 - narrow*narrow*y2
			y1, y2 = y, y1
			out = append(out, float32(shape*(0.05*y+0.08*white)/(1+0.4*float64(burst))))
		}
		out = append(out, make([]float32, engine.SpeechRateHz/20)...)
	}
	return out
}

// noise is the i-th noise: a recorded one where Debian's prompts are there, or a
// made one: rain, a door, typing.
func noise(i int) disturbance {
	recorded := []string{"tt-monkeys", "beeperr", "ascending-2tone"}
	if i < len(recorded) {
		if data, err := os.ReadFile(filepath.Join(debianRecordings, recorded[i]+".wav")); err == nil {
			if pcm, err := audio.DecodeAll(data, engine.SpeechRateHz); err == nil {
				return disturbance{kind: aNoise, name: recorded[i],
					pcm: pcm[:min(len(pcm), int(longestNoise*engine.SpeechRateHz/time.Second))]}
			}
		}
	}
	chance := rand.New(rand.NewPCG(uint64(i), 2))
	n := int(longestNoise * engine.SpeechRateHz / time.Second)
	pcm := make([]float32, n)
	made := []string{"rain", "a door", "typing"}[i%3]
	for j := range pcm {
		t := float64(j) / engine.SpeechRateHz
		shape := 0.05 // rain
		switch made {
		case "a door":
			shape = 0.7 * math.Exp(-t/0.05)
		case "typing": // a key each 150 ms
			shape = 0.4 * math.Exp(-math.Mod(t, 0.15)/0.006)
		}
		pcm[j] = float32(shape * (2*chance.Float64() - 1))
	}
	return disturbance{kind: aNoise, name: made, pcm: pcm}
}
