package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"parley/appliance/engine"
	"parley/bench/yardstick"
)

// peerProgram is Piper as it comes from PyPI, asked over a pipe: a text in, when
// its first sound came and when its last.
const peerProgram = `
import json, sys, time
from piper import PiperVoice
voice = PiperVoice.load(sys.argv[1], config_path=sys.argv[2])
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    begun = time.perf_counter()
    first, samples, rate = None, 0, 1
    for chunk in voice.synthesize(json.loads(line)):
        samples += len(chunk.audio_int16_array)
        rate = chunk.sample_rate
        first = first or time.perf_counter() - begun
    print(json.dumps({"first": first, "whole": time.perf_counter() - begun, "sound": samples / rate}), flush=True)
`

// peer is a running Piper of somebody else's.
type peer struct {
	cmd     *exec.Cmd
	texts   io.WriteCloser
	answers *json.Decoder
}

// peerSaid is how long it took, in seconds.
type peerSaid struct {
	Ready               bool
	First, Whole, Sound float64
}

func startPeer(ctx context.Context, python, voice string) (*peer, error) {
	cmd := exec.CommandContext(ctx, python, "-c", peerProgram, filepath.Join(voice, "voice.onnx"),
		filepath.Join(voice, "voice.json"))
	texts, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil,
			&ErrOption{fmt.Sprintf("peer %s does not start: %v; it is a Python with piper-tts (pip install piper-tts)",
				python, err)}
	}
	p := &peer{cmd: cmd, texts: texts, answers: json.NewDecoder(bufio.NewReader(answers))}
	var said peerSaid
	if err := p.answers.Decode(&said); err != nil || !said.Ready {
		return nil, errors.Join(&ErrOption{fmt.Sprintf("peer %s does not load the voice: is it a Python with "+
			"piper-tts (pip install piper-tts)?", python)}, p.stop())
	}
	return p, nil
}

func (p *peer) say(text string) (said peerSaid, err error) {
	if err := json.NewEncoder(p.texts).Encode(text); err != nil {
		return said, err
	}
	return said, p.answers.Decode(&said)
}

func (p *peer) stop() error {
	err := p.texts.Close()
	_ = p.cmd.Wait() // how it ends is its own affair
	return err
}

// besidePeer compares the voice with Piper from PyPI on the same voice and text.
func (r *Report) besidePeer(ctx context.Context, o Options, voice engine.Synthesizer) (err error) {
	if o.Peer == "" {
		return nil
	}
	p, err := startPeer(ctx, o.Peer, voiceFolder(o.Config))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, said := range append(timedSentences(),
		struct{ name, text string }{"1000_characters", story(longCharacters / 5)}) {
		rounds := o.Rounds
		if len(said.text) > 500 {
			rounds = min(rounds, slowRounds)
		}
		o.say("%s beside piper-tts, %d times", said.name, rounds)
		var ours, theirs []float64
		var sound, theirSound float64 // seconds
		c, err := yardstick.Compare(rounds, func() error {
			begun := time.Now()
			sound = 0
			return voice.Speak(ctx, said.text, engine.SpeakOptions{Urgency: engine.Live.Urgency()},
				func(s engine.Sound) error {
					if sound == 0 {
						ours = append(ours, milliseconds(time.Since(begun)))
					}
					sound += float64(len(s.PCM)) / float64(voice.RateHz())
					return nil
				})
		}, func() error {
			heard, err := p.say(said.text)
			theirs, theirSound = append(theirs, 1000*heard.First), heard.Sound
			return err
		})
		if err != nil {
			return err
		}
		first, their := median(ours[1:]), median(theirs[1:])
		r.paired("peer_first_sound_"+said.name, first, "ms", their, first/their,
			"piper-tts (PyPI) with the same voice and text")
		r.paired("peer_whole_"+said.name, milliseconds(c.Ours), "ms", milliseconds(c.Straight), c.Ratio,
			"likewise; its threads spin while they wait, ours leave the core to others")
		r.paired("peer_real_time_factor_"+said.name, c.Ours.Seconds()/sound, "", c.Straight.Seconds()/theirSound,
			c.Ratio*theirSound/sound, "the same, for each second of sound")
	}
	return nil
}
