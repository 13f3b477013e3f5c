package contract

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

func TestConnectQueryIsConvertedToItsTypes(t *testing.T) {
	two := 2
	prompt := "Hi {{name}}"
	for query, want := range map[string]ConnectSettings{
		``: {},
		`api_key=k&fernSdkLanguage=JavaScript&x[=1&y[z=2&x=1&x[y]=2&[a]=3`: {},
		`config_id=c&config_version=2&resumed_chat_group_id=g&voice_id=v&verbose_transcription=true&` +
			`allow_connection=false&event_limit=10`: {
			ConfigID:             "c",
			ConfigVersion:        &two,
			ResumedChatGroupID:   "g",
			VoiceID:              "v",
			VerboseTranscription: true,
			EventLimit:           10,
		},
		`session_settings[tools][0][name]=f&verbose_transcription=True`: {VerboseTranscription: true},
		`config_id=&config_version=&event_limit=`:                       {},
		`keep_history=true`:   {},
		`keep_history=false`:  {NoHistory: true},
		`sound_ahead_secs=30`: {SoundAheadSecs: 30},
		`session_settings%5Baudio%5D%5Bsample_rate%5D=16000`: {SessionSettings: SessionSettings{
			Audio: &AudioConfiguration{Channels: 1, Encoding: Linear16, SampleRate: 16000}}},
		`session_settings[audio][encoding]=linear16&session_settings[audio][sample_rate]=48000&` +
			`session_settings[audio][channels]=2`: {SessionSettings: SessionSettings{
			Audio: &AudioConfiguration{Channels: 2, Encoding: Linear16, SampleRate: 48000}}},
		`session_settings[system_prompt]=Hi+%7B%7Bname%7D%7D&session_settings[variables][name]=Ann&` +
			`session_settings[variables][age]=42`: {SessionSettings: SessionSettings{
			SystemPrompt: &prompt, Variables: map[string]VariableValue{"name": TextVariable("Ann"),
				"age": TextVariable("42")}}},
		`session_settings[voice_id]=v&session_settings[event_limit]=7&session_settings[custom_session_id]=s`: {
			VoiceID: "v", EventLimit: 7, SessionSettings: SessionSettings{CustomSessionID: "s"}},
		`voice_id=a&voice_id=b&session_settings[voice_id]=v`: {VoiceID: "b"},
		`session_settings[context][text]=t&session_settings[context][type]=persistent`: {
			SessionSettings: SessionSettings{Context: &Context{"t", ContextPersistent}}},
		`session_settings[context][type]=persistent`: {},
		`session_settings[variables]={"name": "Joshua", "age": 42, "vip": true}`: {SessionSettings: SessionSettings{
			Variables: map[string]VariableValue{"name": TextVariable("Joshua"), "age": variable("42"),
				"vip": variable("true")}}},
		`session_settings[variables]=%20{"a[b]": ""}`: {SessionSettings: SessionSettings{
			Variables: map[string]VariableValue{"a[b]": TextVariable("")}}},
		`session_settings={"audio":{"sample_rate":16000},"context":{"text":"t"},"event_limit":7,"voice_id":"v",` +
			`"variables":{"n":"x"}}`: {
			VoiceID: "v", EventLimit: 7,
			SessionSettings: SessionSettings{Context: &Context{Text: "t"},
				Variables: map[string]VariableValue{"n": TextVariable("x")},
				Audio:     &AudioConfiguration{Channels: 1, Encoding: Linear16, SampleRate: 16000}}},
		`session_settings[audio]={"encoding":"linear16","sample_rate":"48000","channels":32}&` +
			`session_settings[context]={"text":"t","type":"temporary"}`: {
			SessionSettings: SessionSettings{Context: &Context{"t", ContextTemporary},
				Audio: &AudioConfiguration{Channels: 32, Encoding: Linear16, SampleRate: 48000}}},
		// What hume for Python writes for what is not set: the text of an object in 0.13.0 and
		// 0.13.1, and None from then on.
		`session_settings=audio=None+context=None+custom_session_id=None+variables=None+voice_id=None`: {},
		`session_settings[context]=None&session_settings[system_prompt]=None&` +
			`session_settings[custom_session_id]=None`: {},
		// of hume 0.14 for JavaScript: they are lost
		`session_settings[variables]=[object Object]`: {},
		`session_settings[variables][name]=None`: {
			SessionSettings: SessionSettings{Variables: map[string]VariableValue{"name": TextVariable("None")}}},
	} {
		got, err := ParseConnectSettings(parse(t, query))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", query, got, err, want)
		}
	}
}

func TestAWrongConnectParameterIsNamed(t *testing.T) {
	for query, want := range map[string]Fault{
		`config_version=new`: {Code: InvalidConnect,
			Detail: `config_version: expected an integer, got "new"`},
		`config_version=-1`: {Code: InvalidConnect,
			Detail: "config_version: \"-1\" is out of range"},
		`verbose_transcription=yes`: {Code: InvalidConnect,
			Detail: "verbose_transcription: expected true or false"},
		`keep_history=maybe`: {Code: InvalidConnect,
			Detail: "keep_history: expected true or false"},
		`keep_history=false&resumed_chat_group_id=g`: {Code: InvalidConnect,
			Detail: "keep_history: false is not allowed with resumed_chat_group_id"},
		`sound_ahead_secs=61`: {Code: InvalidConnect,
			Detail: "sound_ahead_secs"},
		`event_limit=0`: {Code: InvalidConnect,
			Detail: "event_limit"},
		`event_limit=NaN`: {Code: InvalidConnect,
			Detail: "event_limit"},
		`session_settings[audio]=pcm`: {Code: InvalidSettings,
			Detail: "session_settings.audio: expected fields in brackets"},
		`session_settings=audio=None+voice_id='v'`: {Code: InvalidSettings, Detail: `expected ` +
			`fields in brackets, as in session_settings[variables][name]=…, or an object as JSON text, got ` +
			`"audio=None voice_id='v'"`},
		`session_settings[variables]=Ann`: {Code: InvalidSettings,
			Detail: `session_settings.variables: expected fields in brackets, as in ` +
				`session_settings[variables][name]=…, or an object as JSON text, got "Ann"`},
		`session_settings[variables]={"a":`: {Code: InvalidSettings,
			Detail: "session_settings.variables: not valid JSON"},
		`session_settings[variables]={"a":{}}`: {Code: InvalidSettings,
			Detail: "session_settings.variables.a: expected a string, a number or a boolean"},
		`session_settings[variables]={}&session_settings[variables][a]=1`: {Code: InvalidConnect,
			Detail: "both as a value and as a group"},
		`session_settings={"audio":{"channels":33,"sample_rate":16000}}`: {Code: InvalidSettings,
			Detail: "session_settings.audio.channels: 33 is out of range; allowed: 1 to 32"},
		`session_settings=x`: {Code: InvalidSettings,
			Detail: "session_settings: expected fields in brackets"},
		`session_settings[audio][channels]=1`: {Code: InvalidSettings,
			Detail: "session_settings.audio.sample_rate: missing"},
		`session_settings[audio][sample_rate]=fast`: {Code: InvalidSettings,
			Detail: "session_settings.audio.sample_rate: expected an integer"},
		`session_settings[audio][sample_rate=1`: {Code: InvalidConnect,
			Detail: "expected a name like session_settings[audio][sample_rate]"},
		`session_settings[audio=1`: {Code: InvalidConnect,
			Detail: "expected a name like session_settings[audio][sample_rate]"},
		`session_settings[a][b][c][d]=1`: {Code: InvalidConnect,
			Detail: "expected a name like session_settings[audio][sample_rate]"},
		`session_settings[audio]=1&session_settings[audio][channels]=1`: {Code: InvalidConnect,
			Detail: "both as a value and as a group"},
	} {
		_, err := ParseConnectSettings(parse(t, query))
		f, ok := errors.AsType[Fault](err)
		if !ok || f.Code != want.Code || !strings.Contains(f.Detail, want.Detail) {
			t.Errorf("%s\n got %v\nwant %v", query, err, want)
		}
	}
}

// variable is one that is no string.
func variable(literal string) (v VariableValue) {
	if err := v.UnmarshalJSON([]byte(literal)); err != nil {
		panic(err)
	}
	return v
}

func parse(t *testing.T, query string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func FuzzParseConnectSettings(f *testing.F) {
	f.Add(`config_id=c&config_version=2&session_settings[audio][sample_rate]=16000`)
	f.Add(`session_settings[variables][a]=1&session_settings[[]]=2&a[]=3`)
	f.Fuzz(func(t *testing.T, query string) {
		q, _ := url.ParseQuery(query)
		c, err := ParseConnectSettings(q)
		if _, ok := errors.AsType[Fault](err); err != nil && !ok {
			t.Fatal(err)
		}
		if a := c.SessionSettings.Audio; err == nil && a != nil && (a.Channels < 1 || a.SampleRate < MinSampleRateHz) {
			t.Fatalf("%+v", a)
		}
	})
}
