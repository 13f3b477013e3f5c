package soundcheck

import "fmt"

const (
	// mute is what a microphone brings at most that is switched off, in dB of full
	// scale: the noise of any other is louder.
	mute = -100
	// noisy is a noise at which transcribers begin to get words wrong.
	noisy = -45
	// loudEcho is how loud an echo is beside what was played when whoever stands in
	// front of the box has to shout over it, as a rule.
	loudEcho = 3
	// farthest is how late an echo is still found, in ms: half a second, and what the
	// room adds.
	farthest = 450
	// jumpy is how much the delay may differ within seconds, in ms.
	jumpy = 3
	// littleGone is what should be taken out of an echo at least, in dB.
	littleGone = 15
)

// advise says in plain words what was found, and what to change.
func (r *Result) advise() {
	say := func(format string, args ...any) { r.Advice = append(r.Advice, fmt.Sprintf(format, args...)) }
	switch {
	case r.PeakDB < mute:
		say("The microphone brings nothing but silence: it is muted, or it is not the one that you mean. parley " +
			"devices lists all; pactl set-source-mute @DEFAULT_SOURCE@ 0 switches one on.")
		return
	case !r.Hears:
		say("The microphone does not hear the loudspeaker. With headphones, or a speakerphone that cancels its own " +
			"echo, that is as it should be. If you heard nothing either, turn the loudspeaker up (pactl " +
			"set-sink-volume @DEFAULT_SINK@ 60%%), or name another one with --output.")
	}
	if r.Clipped > 0 {
		say("The microphone is overdriven: %d samples are at full scale, and an echo that is bent so cannot be taken "+
			"out. Turn its level down (pactl set-source-volume @DEFAULT_SOURCE@ 50%%), or the loudspeaker.", r.Clipped)
	}
	if r.Hears && r.EchoDB > loudEcho {
		say("What is played comes back %.0f dB louder than it is: turn the loudspeaker or the microphone down, or "+
			"put them farther apart.", r.EchoDB)
	}
	if r.DelayMS > farthest {
		say("What is played comes back %.0f ms late, and the box finds an echo within 500: wireless devices are that "+
			"late; take one with a cable.", r.DelayMS)
	}
	if r.JumpsMS > jumpy {
		say("How late it comes back differed by %.0f ms within two seconds: the machine is too busy, or the devices "+
			"lose sound. Try again while nothing else runs; see the sound server's log for underruns.", r.JumpsMS)
	}
	if r.NoiseDB > noisy {
		say("The place is loud (%.0f dB of full scale while nothing was played): put the microphone closer to who "+
			"speaks, and away from fans.", r.NoiseDB)
	}
	switch {
	case r.Missing != "":
		say("The box cannot take its own voice out of the microphone: %s.", r.Missing)
	case r.Hears && r.Clipped == 0 && r.EchoDB > -40 && r.GoneDB < littleGone && r.JumpsMS <= jumpy &&
		r.DelayMS <= farthest:
		say("Only %.0f dB of it can be taken out: the loudspeaker rattles, or an effect (equalizer, surround, "+
			"automatic gain) changes it. Turn it down, and switch effects off.", r.GoneDB)
	}
}
