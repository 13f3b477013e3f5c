package soundcheck

import "fmt"

const (
	// mutedDB is the highest level of a microphone that is switched off, in dB of full scale: the
	// noise of any other is louder.
	mutedDB = -100
	// noisyDB is the noise level at which transcribers begin to make errors.
	noisyDB = -45
	// loudEchoDB is the level of an echo, relative to playback, from which a person in front of
	// the box usually has to shout over it.
	loudEchoDB = 3
	// maxDelayMS is the largest delay at which an echo is found, in ms: half a second, less what
	// the room adds.
	maxDelayMS = 450
	// maxJumpsMS is the tolerated variation of the delay within seconds, in ms.
	maxJumpsMS = 3
	// minCancellationDB is the least expected echo cancellation, in dB.
	minCancellationDB = 15
)

// advise adds what was found, and what to change, in plain words.
func (r *Result) advise() {
	say := func(format string, args ...any) { r.Advice = append(r.Advice, fmt.Sprintf(format, args...)) }
	switch {
	case r.PeakDB < mutedDB:
		say("The microphone delivers nothing but silence: it is muted, or it is not the one that you mean. parley " +
			"devices lists all; pactl set-source-mute @DEFAULT_SOURCE@ 0 switches one on.")
		return
	case !r.Hears:
		say("The microphone does not hear the loudspeaker. With headphones, or a speakerphone that cancels its own " +
			"echo, that is as it should be. If you heard nothing either, turn the loudspeaker up (pactl " +
			"set-sink-volume @DEFAULT_SINK@ 60%%), or name another one with --output.")
	}
	if r.Clipped > 0 {
		say("The microphone is overdriven: %d samples are at full scale, and a clipped echo cannot be cancelled. "+
			"Turn its level down (pactl set-source-volume @DEFAULT_SOURCE@ 50%%), or the loudspeaker.", r.Clipped)
	}
	if r.Hears && r.EchoDB > loudEchoDB {
		say("The echo is %.0f dB louder than what is played: turn the loudspeaker or the microphone down, or "+
			"put them farther apart.", r.EchoDB)
	}
	if r.DelayMS > maxDelayMS {
		say("The echo is %.0f ms late, and the box finds an echo within 500 ms: wireless devices are that late; use "+
			"one with a cable.", r.DelayMS)
	}
	if r.JumpsMS > maxJumpsMS {
		say("The delay of the echo varied by %.0f ms within two seconds: the machine is too busy, or the devices "+
			"lose sound. Try again while nothing else runs; see the sound server's log for underruns.", r.JumpsMS)
	}
	if r.NoiseDB > noisyDB {
		say("There is much background noise (%.0f dB of full scale while nothing was played): put the microphone "+
			"closer to the person who speaks, and away from fans.", r.NoiseDB)
	}
	switch {
	case r.Missing != "":
		say("The box cannot remove its own voice from the microphone: %s.", r.Missing)
	case r.Hears && r.Clipped == 0 && r.EchoDB > -40 && r.GoneDB < minCancellationDB && r.JumpsMS <= maxJumpsMS &&
		r.DelayMS <= maxDelayMS:
		say("Only %.0f dB of the echo can be cancelled: the loudspeaker rattles, or an effect (equalizer, surround, "+
			"automatic gain) changes it. Turn it down, and switch effects off.", r.GoneDB)
	}
}
