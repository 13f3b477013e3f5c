package api

import (
	"fmt"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/text"
)

func TestPronunciationsAreSetListedAndDeleted(t *testing.T) {
	both := startRest(t, "museum", "clinic")
	c, other := both[0], both[1]
	var changed []string
	c.api.LexiconChanged = func(account string) { changed = append(changed, account) }
	const path = "/v0/box/lexicon"
	if all := c.ask("GET", path, "", 200)["entries"].([]any); len(all) != 0 {
		t.Errorf("%v", all)
	}
	if got := c.ask("PUT", path+"/Nguyen", `{"said":"/wɪn/"}`, 201); got["word"] != "Nguyen" ||
		got["phonemes"] != "wɪn" {
		t.Errorf("%v", got)
	}
	c.ask("PUT", path+"/nguyen", `{"said":"win"}`, 200)
	if got := c.ask("GET", path+"/nGUYEN", "", 200); got["word"] != "nguyen" || got["said"] != "win" ||
		got["phonemes"] != nil {
		t.Errorf("%v", got)
	}
	c.ask("PUT", path+"/AC%2FDC", `{"said":"ac dc"}`, 201)
	c.ask("PUT", path+"/Joaqu%C3%ADn%20Mir%C3%B3", `{"said":"hwah-KEEN mee-ROH"}`, 201)
	other.ask("GET", path+"/nguyen", "", 404)
	c.ask("DELETE", path+"/Nguyen", "", 200)
	c.ask("DELETE", path+"/Nguyen", "", 404)
	all := c.ask("PUT", path, `{"entries":[{"word":"B","said":"bee"},{"word":"a","said":"/eɪ/"}]}`,
		200)["entries"].([]any)
	if len(all) != 2 || all[0].(record)["word"] != "a" || all[1].(record)["word"] != "B" {
		t.Errorf("%v", all)
	}
	if got := strings.Join(changed, " "); strings.Count(got, c.account) != 6 || len(changed) != 6 {
		t.Errorf("told of %s", got)
	}
	if all := other.ask("GET", path, "", 200)["entries"].([]any); len(all) != 0 {
		t.Errorf("another account has %v", all)
	}
}

func TestErrorsAboutPronunciationsSayWhatIsAllowed(t *testing.T) {
	c := startRest(t, "museum")[0]
	const path = "/v0/box/lexicon"
	for _, row := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", path + "/Nguyen", `{"said":"/w€n/"}`, 400, "said: "},
		{"PUT", path, `{"entries":[{"word":"Ann","said":"an"},{"word":"...","said":"dots"}]}`, 400, "entries.1.word"},
		{"PUT", path, `{"entries":[{"word":"Ann","said":"//"}]}`, 400, "entries.0.said"},
		{"PUT", path + "/Nguyen", `{}`, 422, "said"},
		{"PUT", path + "/++", `{"said":"x"}`, 400, "word: "},
		{"PUT", path, `{"entries":[{"word":"Ann","said":"an"},{"word":"ANN","said":"on"},{"word":"ann","said":"en"}]}`,
			400, "entries.2"},
		{"PUT", path, `{"entries":[{"word":"Ann"}]}`, 422, "said"},
		{"PUT", path, `{}`, 422, "entries"},
	} {
		if status, _, body := c.send(row.method, row.path, "", row.body); status != row.status ||
			!strings.Contains(body, row.says) {
			t.Errorf("%s: %d %s", row.body, status, body)
		}
	}
	var many []string
	for i := range contract.MaxLexiconEntries {
		many = append(many, fmt.Sprintf(`{"word":"w%d","said":"x"}`, i))
	}
	c.ask("PUT", path, `{"entries":[`+strings.Join(many, ",")+`]}`, 200)
	if got := c.ask("PUT", path+"/more", `{"said":"x"}`, 409); !strings.Contains(got["message"].(string), "2000") {
		t.Errorf("%v", got)
	}
	c.ask("PUT", path+"/w7", `{"said":"y"}`, 200)
	if contract.MaxLexiconEntries != text.MaxLexiconEntries || contract.MaxLexiconWordChars != text.MaxLexiconWord ||
		contract.MaxLexiconSaidChars != text.MaxLexiconPronunciation {
		t.Error("the bounds of the API are not those of the lexicon")
	}
}
