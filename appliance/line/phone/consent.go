package phone

import (
	"context"
	"errors"

	"parley/appliance/language"
)

// consent informs the person that the call is recorded, or asks for it, as the settings have it. It reports
// whether the call may be recorded. The error says why the call cannot go on.
func (c *Call) consent(ctx context.Context) (recorded bool, err error) {
	kind := c.server.options.Consent
	if !c.assistant.Recorded || c.assistant.Settings.NoHistory || kind == "" || kind == ConsentNone {
		return true, nil
	}
	v := c.assistant.Voice
	says := language.Of(v.Language())
	if kind == ConsentAnnounce {
		c.learn(func(f *facts) { f.Recording = "announced" })
		return true, c.person.speak(ctx, v, says.Recorded())
	}
	yes, err := question{call: c, to: c.person, voice: v, text: says.MayRecord()}.ask(ctx)
	switch {
	case errors.Is(err, errUnanswered):
		c.learn(func(f *facts) { f.Recording = "unanswered" })
		return false, nil
	case err != nil:
		return false, err
	case yes:
		c.learn(func(f *facts) { f.Recording = "yes" })
	default:
		c.learn(func(f *facts) { f.Recording = "no" })
	}
	return yes, nil
}
