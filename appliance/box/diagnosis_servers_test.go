package box

import (
	"errors"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/firmware/doctor"
)

func TestEachServerHasAFinding(t *testing.T) {
	check := func(err error, covered bool, models ...string) engines.ServerCheck {
		return engines.ServerCheck{
			Serves:  "voice",
			Server:  config.Server{URL: "http://h:1/v1", Model: "tts-1"},
			Models:  models,
			Err:     err,
			Covered: covered,
		}
	}
	broken := errors.New("it is away")
	for _, c := range []struct {
		check  engines.ServerCheck
		health doctor.Health
		what   string
	}{
		{check(nil, false), doctor.OK, "tts-1 at h:1: answers in 1 ms"},
		{check(nil, false, "x", "TTS-1"), doctor.OK, "answers"},
		{check(nil, false, "x", "y"), doctor.Warning, `does not list the model "tts-1": it has x, y`},
		{check(broken, false), doctor.Problem, "tts-1 at h:1: it is away"},
		{check(broken, true), doctor.Warning, "others take over"},
	} {
		f := serverFinding(c.check)
		if f.Health != c.health || !strings.Contains(f.What, c.what) || f.Part != "voice server" ||
			(f.Mend == "") != (f.Health == doctor.OK) {
			t.Errorf("%+v: %+v", c.check, f)
		}
	}
}
