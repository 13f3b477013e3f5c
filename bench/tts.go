package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/bench/yardstick"
)

// What is spoken where one sentence is timed.
const (
	shortSentence = "Sure, I can help you with that."
	eightWords    = "Sure, I can help you with that today."
	longSentence  = "The swimming pool on the second floor is open every day from seven in the morning until ten at " +
		"night, and towels are free of charge."
)

// spokenSentences are what the voices are judged by, the way a box in a hotel
// or a museum speaks.
func spokenSentences() []string {
	return []string{
		"The museum opens at ten in the morning and closes at six.",
		"Breakfast is served on the first floor until half past nine.",
		"I am sorry, I do not know that, but I can ask somebody for you.",
		"Your room will be ready in about twenty minutes.",
		"Would you like to book a table for two people this evening?",
		"The train to the airport leaves every fifteen minutes.",
		"Please take the elevator to the third floor and turn left.",
		"The weather tomorrow will be cold and windy with a little rain.",
		"Children under twelve do not need a ticket.",
		"There is a quiet garden behind the main building.",
		"You can leave your coat and your bag in the cloakroom.",
		"The painting was made in the last year of his life.",
		"A doctor will call you back before the end of the day.",
		"How many nights would you like to stay with us?",
		"The next guided tour begins at the fountain in ten minutes.",
		"All of our bread is baked in the house every morning.",
		"The bridge is closed, so please follow the yellow signs.",
		"Good evening, and welcome to the concert hall.",
		"That seat is taken, but the one beside it is free.",
		"The pharmacy across the street is open all night.",
		"Press the red button if you need any help.",
		"The ferry to the island takes about forty minutes.",
		"Dogs are welcome in the park, but not in the restaurant.",
		"Thank you for waiting, the manager will be with you shortly.",
		"If you turn left behind the library, you will see the post office on the other side of the square.",
		"The old lighthouse can be visited from April to September, but only when the sea is calm.",
		"We have moved your meeting to the small room upstairs, because the large one is being painted.",
		"Please leave your key at the desk when you go out, and pick it up again when you return.",
		"The soup of the day is made of pumpkin and ginger, and it is served with fresh bread.",
		"Although the exhibition has been open for a month, many visitors still come every weekend.",
		"The nurse will take your blood pressure first, and then the doctor will see you.",
		"Our shuttle to the station leaves from the side entrance, and the driver is happy to help with your bags.",
		"The choir will sing songs from three countries, and after the break the audience may join in.",
		"You may bring your own lunch, but please do not eat in the reading room.",
		"A storm is expected in the evening, so the boat trip to the caves has been cancelled.",
		"The collection was given to the town by a merchant who had sailed around the world.",
		"When the light turns green, pull the handle towards you and wait until the door opens.",
		"Guests who arrive late at night can find their key in the box beside the front door.",
		"The gardener says that the roses will be in bloom by the end of the month.",
		"There are two lifts at the end of the corridor, and the stairs are just behind them.",
		"My colleague will call you tomorrow morning to ask whether the repair was to your satisfaction.",
		"The library lends books, films and games, and a card is free for everybody who lives here.",
		"Swimming is allowed between the yellow flags, where a lifeguard is on duty all day.",
		"If the machine does not give any change, press the round button and wait for a moment.",
		"The cheese comes from a farm in the mountains, where it is made by hand in the summer.",
		"Because of the holiday, the office is closed on Monday, but you can still reach us by phone.",
		"The theatre has been restored with great care, and even the old curtain is back in its place.",
		"Please speak slowly and clearly after the tone, and tell us how we can reach you.",
		"The path along the river is flat and easy, so it is a good choice for families.",
		"You will receive a message as soon as your parcel is ready to be collected.",
	}
}

// The parts of the measurement of voices.
const (
	ttsEngine = "engine" // the voice beside its graph
	ttsHTTP   = "http"   // text-to-speech over HTTP beside the graph
	ttsLong   = "long"   // a long text over HTTP beside the graph
	ttsPeer   = "peer"   // the voice beside piper-tts
	ttsStream = "stream" // memory while a long text streams
	ttsMemory = "memory" // memory of each answer and format
	ttsFair   = "fair"   // several streams at once
	ttsTimes  = "times"  // word times beside those that an ear finds
	ttsWords  = "words"  // what an ear understands of each voice
	ttsPitch  = "pitch"  // how high each voice is
)

// allVoices stands for every voice of the library.
const allVoices = "all"

func ttsParts() []string {
	return []string{ttsEngine, ttsHTTP, ttsLong, ttsPeer, ttsStream, ttsMemory, ttsFair, ttsTimes, ttsWords, ttsPitch}
}

// TTS measures the voices.
func TTS(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	for _, part := range o.Only {
		if !slices.Contains(ttsParts(), part) {
			return Report{},
				&ErrOption{fmt.Sprintf("only %.40q is not known; allowed are %s", part, strings.Join(ttsParts(), ", "))}
		}
	}
	wants := func(part string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, part) }
	voices, err := voicePacks(o.Config)
	if err != nil {
		return Report{}, err
	}
	r := Report{Bench: "tts", Machine: describe(o.Config, append([]string{"runtime-onnx", "espeak-ng"}, voices...)...)}
	switch {
	case slices.Equal(o.Voices, []string{allVoices}):
		voices = engines.VoiceIDs(o.Config)
	case len(o.Voices) > 0:
		voices = o.Voices
	}
	o.say("loading %s", o.Config.Engines.Voice)
	opened, err := engines.Open(ctx, o.Config, engines.Speaking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	voice, err := opened.Voice(ctx, "")
	if err != nil {
		return r, err
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{ttsEngine, func() error { return r.besideGraph(ctx, o, opened.Gate, voice) }},
		{ttsHTTP, func() error {
			return besideHTTP(ctx, o, voice, func(s *speechServer, plain preparation) error {
				return r.firstSounds(ctx, o, s, plain)
			})
		}},
		{ttsLong, func() error {
			return besideHTTP(ctx, o, voice, func(s *speechServer, plain preparation) error {
				return r.longText(ctx, o, s, plain)
			})
		}},
		{ttsPeer, func() error { return r.besidePeer(ctx, o, voice) }},
		{ttsStream, func() error { return r.streamMemory(ctx, o, voice) }},
		{ttsMemory, func() error { return r.answerMemory(ctx, o) }},
		{ttsFair, func() error { return r.fair(ctx, o, voice) }},
	} {
		if !wants(part.name) {
			continue
		}
		if err := part.measure(); err != nil {
			return r, err
		}
	}
	if wants(ttsPitch) {
		if err := r.pitches(ctx, o, opened, voices); err != nil {
			return r, err
		}
	}
	if !wants(ttsTimes) && !wants(ttsWords) {
		return r, nil
	}
	return r, r.judgeVoices(ctx, o, opened, voices, wants)
}

// besideGraph measures the voice as the engine that it is.
func (r *Report) besideGraph(ctx context.Context, o Options, gate *engine.Gate, voice engine.Synthesizer) error {
	if err := r.firstAudio(ctx, o, voice); err != nil {
		return err
	}
	r.memory(self(), 0) // of one voice
	if err := r.straightVoice(ctx, o, voice); err != nil {
		return err
	}
	return r.passages(ctx, o, gate, voice)
}

// firstAudio times a sentence from its words to the clip that a client is sent.
func (r *Report) firstAudio(ctx context.Context, o Options, voice engine.Synthesizer) error {
	for _, s := range []struct{ name, text string }{{"first_audio_short", shortSentence},
		{"first_audio_long", longSentence}} {
		o.say("speaking %q, %d times", s.text, o.Rounds)
		took, err := timed(o.Rounds, func() error {
			said, err := engine.SpeakWhole(ctx, voice, s.text, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
			if err == nil {
				audio.EncodeWAV(audio.Resample(said.PCM, said.RateHz, contract.OutputRateHz), contract.OutputRateHz)
			}
			return err
		})
		if err != nil {
			return err
		}
		r.figure(s.name, took, "ms", "to a 48 kHz WAV of the whole sentence")
	}
	return nil
}

// straightVoice compares the voice with its graph alone.
func (r *Report) straightVoice(ctx context.Context, o Options, voice engine.Synthesizer) (err error) {
	plain, done, err := plainVoice(o, voice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, s := range []struct{ name, text string }{
		{"2_words", "Good morning."}, {"8_words", eightWords}, {"26_words", longSentence},
	} {
		run, release, err := plain(ctx, s.text)
		if err != nil {
			return err
		}
		for _, part := range []struct {
			name  string
			speak func() error
			over  string
		}{
			{"first_sound_", func() error {
				return firstSound(ctx, voice, s.text)
			}, "over the graph's run for the whole sentence"},
			{"synthesize_", func() error {
				_, err := engine.SpeakWhole(ctx, voice, s.text, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
				return err
			}, straight},
		} {
			c, err := yardstick.Compare(o.Rounds, part.speak, run)
			if err != nil {
				release()
				return err
			}
			r.paired(part.name+s.name, milliseconds(c.Ours), "ms", milliseconds(c.Straight), c.Ratio, part.over)
		}
		release()
	}
	return nil
}

// passages counts how often a voice asks for the cores in a sentence, and times
// how long it holds them at most: so long everybody else waits.
func (r *Report) passages(ctx context.Context, o Options, gate *engine.Gate, voice engine.Synthesizer) error {
	for _, s := range []struct{ name, text string }{{"8_words", eightWords}, {"26_words", longSentence}} {
		var longest []float64
		count := 0
		for range max(o.Rounds, 1) {
			var most time.Duration
			count = 0
			gate.Observe(func(p engine.Passage) { count, most = count+1, max(most, p.Held) })
			_, err := engine.SpeakWhole(ctx, voice, s.text, engine.SpeakOptions{Urgency: engine.Live.Urgency()})
			gate.Observe(func(engine.Passage) {})
			if err != nil {
				return err
			}
			longest = append(longest, milliseconds(most))
		}
		r.figure("passages_"+s.name, float64(count), "", "how often the voice asks for the cores in the sentence")
		r.figure("longest_passage_"+s.name, median(longest), "ms",
			"how long it holds them at most, median of the rounds")
	}
	return nil
}

// firstSound speaks up to the first piece of the sound.
func firstSound(ctx context.Context, voice engine.Synthesizer, said string) error {
	enough := errors.New("the first sound is there")
	err := voice.Speak(ctx, said, engine.SpeakOptions{Urgency: engine.Live.Urgency()}, func(engine.Sound) error {
		return enough
	})
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// voicePacks are the packs that hold a voice.
func voicePacks(cfg config.Config) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(cfg.Packs, "*", "voice.onnx"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names, nil
}

// voiceFolder is the pack of the configured voice, whose name may lack its
// beginning.
func voiceFolder(cfg config.Config) string {
	for _, name := range []string{cfg.Engines.Voice, "voice-" + cfg.Engines.Voice} {
		if _, err := os.Stat(filepath.Join(cfg.Pack(name), "voice.onnx")); err == nil {
			return cfg.Pack(name)
		}
	}
	return cfg.Pack(cfg.Engines.Voice)
}
