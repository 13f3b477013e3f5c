package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"parley/appliance/chat"
	"parley/appliance/text"
)

// Limits of the added latency in milliseconds: unnoticeable (median), and acceptable now
// and then (95th percentile).
const addedLimit, addedLimit95 = 100, 300

// Turn is a turn of a talk. Its times are in milliseconds, from the user's last sound to
// the answer's first; null if there are none.
type Turn struct {
	Callers   int    `json:"callers"`         // at once
	Caller    int    `json:"caller"`          // from 1
	Batch     bool   `json:"batch,omitempty"` // an analysis job or other programs ran
	Recording string `json:"recording"`
	Outcome   string `json:"outcome"` // answered, early, unanswered or failed
	Answer    Number `json:"answer"`
	Added     Number `json:"added"` // without the silence that ends the turn
	// Limit is the shortest time possible on this machine, the sum of the times below, or
	// the silence if that is longer; Ratio is Answer divided by it.
	Limit      Number `json:"limit"`
	Ratio      Number `json:"ratio"`
	Pause      Number `json:"pause"`
	Transcribe Number `json:"transcribe"`
	Think      Number `json:"think"`
	Speak      Number `json:"speak"`
}

// silenceAsked returns the silence that ends a turn: the default, since these chats have
// no config.
func silenceAsked() time.Duration { return chat.DefaultSettings().EndOfTurnSilence }

// report returns the turn for a report.
func (t turn) report(callers, caller int) Turn {
	out := Turn{
		Callers:   callers,
		Caller:    caller,
		Recording: t.recording,
		Outcome:   t.outcome(),
	}
	none := Number(math.NaN())
	out.Answer, out.Added, out.Limit, out.Ratio = none, none, none, none
	out.Pause, out.Transcribe, out.Think, out.Speak = none, none, none, none
	ms := func(d time.Duration) Number { return Number(milliseconds(d)) }
	if t.ok() {
		out.Answer, out.Added = ms(t.soundAt), ms(t.soundAt-silenceAsked())
	}
	if ratio, ok := t.limitRatio(silenceAsked()); ok {
		l := t.limit
		out.Limit, out.Ratio = ms(l.forSilence(silenceAsked())), Number(ratio)
		out.Pause, out.Transcribe, out.Think, out.Speak = ms(l.pause), ms(l.transcribe), ms(l.think), ms(l.speak)
	}
	return out
}

func (t turn) outcome() string {
	switch {
	case t.ok():
		return "answered"
	case t.early || t.interrupted:
		return "early"
	case t.fault != "":
		return "failed"
	}
	return "unanswered"
}

// limitRatio returns the time to the answer divided by the limit; ok is false if the turn
// was not answered, or has no limit.
func (t turn) limitRatio(silence time.Duration) (ratio float64, ok bool) {
	if !t.ok() || t.limit == (limit{}) {
		return 0, false
	}
	return float64(t.soundAt) / float64(t.limit.forSilence(silence)), true
}

// addTalk adds the results of the conversations of some callers.
func (r *Report) addTalk(k talk, chats [][]turn) {
	var all []turn
	for i, turns := range chats {
		all = append(all, turns...)
		for _, t := range turns {
			row := t.report(k.callers, i+1)
			row.Batch = k.batch
			r.Turns = append(r.Turns, row)
		}
	}
	r.latency(k.prefix, all)
	r.messages(k.prefix, all)
	r.limits(k.prefix, all)
	r.understanding(k, chats)
	if k.callers == 1 {
		return
	}
	r.fairness(k.prefix, chats)
	if k.prefix == "" { // several numbers of callers would be too many figures; --json has the turns
		for i, turns := range chats {
			r.latency(fmt.Sprintf("chat_%d_", i+1), turns)
		}
	}
}

// latency adds the times of the normal turns, and the number of the others.
func (r *Report) latency(prefix string, turns []turn) {
	silence := silenceAsked()
	total, added := answers(turns, 0), answers(turns, silence)
	count := map[string]int{}
	for _, t := range turns {
		count[t.outcome()]++
	}
	of := fmt.Sprintf("of %d turns", len(total))
	r.figure(prefix+"answer_median", median(total)/1e6, "ms", of+", from the user's last sound to the answer's first")
	r.figure(prefix+"answer_p95", quantile(total, 0.95)/1e6, "ms", of)
	note := fmt.Sprintf("the same without the configured %v of silence; the limit", silence)
	r.against(prefix+"added_median", median(added)/1e6, "ms", addedLimit, note)
	r.against(prefix+"added_p95", quantile(added, 0.95)/1e6, "ms", addedLimit95, note)
	r.figure(prefix+"turns_early", float64(count["early"]), "",
		"the box spoke before the user had finished, or was interrupted")
	r.figure(prefix+"turns_unanswered", float64(count["unanswered"]), "",
		fmt.Sprintf("no sound within %v", answerTimeout))
	r.figure(prefix+"turns_failed", float64(count["failed"]), "", faults(turns))
}

// answers returns the times to the answers of the normal turns, minus less.
func answers(turns []turn, less time.Duration) (times []time.Duration) {
	for _, t := range turns {
		if t.ok() {
			times = append(times, t.soundAt-less)
		}
	}
	return times
}

// messages adds the times of the messages.
func (r *Report) messages(prefix string, turns []turn) {
	var words, sentence, clip []time.Duration
	for _, t := range turns {
		if t.ok() {
			words, sentence, clip = append(words, t.transcriptAt), append(sentence, t.messageAt), append(clip, t.clipAt)
		}
	}
	const note = "after the user's last sound"
	r.figure(prefix+"user_message_median", median(words)/1e6, "ms", note)
	r.figure(prefix+"assistant_message_median", median(sentence)/1e6, "ms", note)
	r.figure(prefix+"audio_output_median", median(clip)/1e6, "ms", note)
}

// limits adds the limit of the machine, and how near the answers came to it.
func (r *Report) limits(prefix string, turns []turn) {
	silence := silenceAsked()
	var least []time.Duration
	var ratios []float64
	for _, t := range turns {
		if ratio, ok := t.limitRatio(silence); ok {
			least, ratios = append(least, t.limit.forSilence(silence)), append(ratios, ratio)
		}
	}
	if len(ratios) == 0 {
		return
	}
	r.figure(prefix+"limit_median", median(least)/1e6, "ms", fmt.Sprintf("%v, or if longer, pause + "+
		"transcription + first clause + first sound of each engine alone", silence))
	r.figure(prefix+"limit_p95", quantile(least, 0.95)/1e6, "ms", "the same")
	note := fmt.Sprintf("each turn's answer over its limit, %d turns", len(ratios))
	r.figure(prefix+"answer_over_limit_median", median(ratios), "", note)
	r.figure(prefix+"answer_over_limit_p95", quantile(ratios, 0.95), "", note)
}

// fairness compares the callers with the slowest and the fastest answers, by median.
func (r *Report) fairness(prefix string, chats [][]turn) {
	for _, f := range []struct {
		name string
		less time.Duration
	}{{"answer", 0}, {"added", silenceAsked()}} {
		var medians []float64
		for _, turns := range chats {
			medians = append(medians, median(answers(turns, f.less)))
		}
		// A chat without answers has no median, which makes the result NaN.
		slowest, fastest := slices.Max(medians), slices.Min(medians)
		r.against(prefix+f.name+"_slowest_chat", slowest/1e6, "ms", fastest/1e6, "its median; that of the fastest chat")
	}
}

func faults(turns []turn) string {
	var all []string
	for _, t := range turns {
		if t.fault != "" {
			all = append(all, t.fault)
		}
	}
	return strings.Join(all, "; ")
}

// understanding adds the word error rate of the transcripts.
func (r *Report) understanding(k talk, chats [][]turn) {
	var wrong, words int
	said := map[string][]string{}
	for _, q := range k.recordings {
		said[q.Name] = text.Words(q.Text)
	}
	for _, turns := range chats {
		for _, t := range turns {
			if want := said[t.recording]; len(want) > 0 {
				wrong, words = wrong+text.WordErrors(want, text.Words(t.transcript)), words+len(want)
			}
		}
	}
	r.figure(k.prefix+"word_error", 100*float64(wrong)/float64(words), "%",
		fmt.Sprintf("of %d words in user_message", words))
}
