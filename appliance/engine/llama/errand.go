package llama

import (
	"context"
	"regexp"
	"strings"
	"time"

	"parley/appliance/engine"
)

// Who has no tools can do nothing for the user. A small model says that it did all the
// same where it is asked to, and there alone its answer is watched: a story may have
// "I opened the door" in it.

const deeds = `(?:book|reserve|order|arrange|cancel|schedule|reschedule|set|send|place|add|put|remove|update|change|` +
	`move|switch|turn|lock|unlock|open|close|start|stop|call|ring|` +
	`confirm|request|forward|transfer|connect|notify|inform|submit|save|refund|renew|register|sign|enrol|enroll|` +
	`email|bring|buy|sell|pay|freeze|pause|deliver|remind|wake|` +
	`tell (?:him|her|them|my|your|our|the|doctor|dr|mr|mrs|ms))`

// tale is in the words of who wants to be told something: in that anybody may have done
// anything.
var tale = regexp.MustCompile(
	`(?i)\b(?:story|stories|tale|joke|jokes|poem|song|riddle|rhyme|fairy|imagine|pretend|role)\b`)

// errand is in words that want something done, or ask how something of the user's is
// coming along: in English.
var errand = regexp.MustCompile(
	`(?i)(?:^|[.!?,;] ?)(?:(?:hello|hi|hey|okay|ok|yes|so|and|now|then|well),? )*(?:please )?` + deeds + `\b` +
		`|\b(?:please|(?:can|could|would|will) (?:you|i|we)|want (?:you )?to|(?:like|need|have) (?:you |me |us ` +
		`)?to|shall i|should i)(?: \w+){0,2} ` + deeds + `\b` +
		`|\b(?:i|we)(?:'d| would) like (?:an?|one|two|three|the|some)\b|\b(?:i|we) (?:need|want|take) ` +
		`(?:an?|one|two|three|the|some)\b` +
		`|\b(?:my|our) (?:\w+ )?(?:order|parcel|package|delivery|booking|reservation|appointment|flight|train|bus|taxi|` +
		`ticket|tickets|bill|invoice|payment|refund|results?|prescription|account|application|claim|repair|car|table|` +
		`room)\b`)

// wantsDone tells whether the user wants something done, or has said yes to it.
func wantsDone(messages []engine.Message) bool {
	before, user, since, ok := newest(messages)
	if !ok || len(since) > 0 {
		return false
	}
	user = strings.ReplaceAll(oneLine(user), "’", "'")
	if len(user) > routerWords {
		user = user[len(user)-routerWords:]
	}
	if tale.MatchString(user) {
		return false
	}
	return errand.MatchString(user) || strings.HasSuffix(strings.TrimSpace(before), "?") && errand.MatchString(before)
}

// unable answers where there are no tools: what the answer claims to do is taken out
// of it.
func (m *Model) unable(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	begun := time.Now()
	g := newGuard(p, &toolset{}, emit)
	g.unable = true
	u, err := m.reply(ctx, p, nil, begun, g.take)
	return m.guarded(ctx, p, nil, g, begun, u, err)
}
