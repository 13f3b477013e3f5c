package language

import (
	"maps"
	"slices"
	"testing"
)

func TestBackchannelsAreOfTheirLanguage(t *testing.T) {
	for _, row := range []struct {
		tag, text string
		want      bool
	}{
		{"en", "Mm-hm. Right, okay.", true},
		{"en", "Yeah, but wait.", false},
		{"en", "Hmmmm…", true},
		{"en", "I see the museum", false},
		{"en", "Rightly", false},
		{"en", "42.", false},
		{"en", "Нет.", false},
		{"en", "はい", false},
		{"en", "", true},
		{"en", " … ?", true},
		{"de", "Ja, genau!", true},
		{"de", "Nein.", false},
		{"de", "Right.", false},
		{"de-AT", "Ach so, verstehe.", true},
		{"fr", "D’accord, je vois.", true},
		{"fr", "Non.", false},
		{"es", "Sí, sí, claro.", true},
		{"it", "Va bene.", true},
		{"pt-BR", "Tá bom, entendi.", true},
		{"pt_PT", "Pois.", true},
		{"nl", "Ja, precies.", true},
		{"ru", "Да, понятно.", true},
		{"ru", "Нет.", false},
		{"ru", "Дама", false},
		{"uk", "Так, зрозуміло.", true},
		{"pl", "No tak, jasne.", true},
		{"sv", "Just det.", true},
		{"tr", "Evet, tamam.", true},
		{"ja", "はい、なるほど。", true},
		{"ja", "はいしゃ", false},
		{"ja", "いいえ。", false},
		{"zh-Hans", "嗯，好的。", true},
		{"zh", "不好。", false},
		{"ko", "네, 알겠습니다.", true},
		{"ko", "아니요.", false},
		{"", "Mhm, okay.", true},
		{"", "Yes.", false},
		{"xx", "Да.", false},
	} {
		if got := Of(row.tag).Backchannel(row.text); got != row.want {
			t.Errorf("%q in %q: backchannel %v, want %v", row.text, row.tag, got, row.want)
		}
	}
}

func TestUnfinishedPhrasesHoldTheFloor(t *testing.T) {
	for _, row := range []struct {
		tag, text     string
		holds, begins bool
	}{
		{"en", "I would like to go to the, um…", true, false},
		{"en", "Um", true, true},
		{"en", "Well, so", true, true},
		{"en", "And then", true, true},
		{"en", "Who is it for?", false, false},
		{"en", "What time is it?", false, false},
		{"en", "Sweden.", false, false}, // ends in "en", but not in a word
		{"en", "Wait.", true, true},
		{"de", "Ich hätte gern einen", true, false},
		{"de", "Moment, also", true, true},
		{"fr", "Je voudrais aller à l'", true, false},
		{"ru", "Я хочу, чтобы", true, false},
		{"ja", "駅に行きたいんですけど", true, false},
		{"zh", "我想去那个", true, false},
		{"ko", "내일 그런데", true, false},
		{"", "Я хочу, чтобы", false, false},
		{"", "to the, uh", true, false},
		{"en", "", false, false},
	} {
		l := Of(row.tag)
		if l.CannotEnd(row.text) != row.holds || l.OnlyTakesFloor(row.text) != row.begins {
			t.Errorf("%q in %q: holds %v, begins %v", row.text, row.tag, l.CannotEnd(row.text),
				l.OnlyTakesFloor(row.text))
		}
	}
}

func TestWhatFewEndWithLeans(t *testing.T) {
	for _, row := range []struct {
		tag, text    string
		leans, opens bool
	}{
		{"en", "There are currently.", true, false},
		{"en", "Yes, it is.", false, false},
		{"en", "That is what I want.", false, false},
		{"en", "I would like two, three", false, false},
		{"en", "I would like two,", true, false},
		{"en", "I would like…", true, false},
		{"en", "Is.", false, false},
		{"en", "If you'd like to leave a message.", false, true},
		{"en", "If you'd like to leave a message, press one.", false, false},
		{"en", "I was there. When you called", false, true},
		{"en", "When do you open?", false, false},
		// too long for half a sentence
		{"en", "To be or not to be is a question that one man asked himself", false, false},
		{"en", "To", false, false},
		{"en", "Tomorrow.", false, false},
		{"en", "The party you are trying to reach.", false, true},
		{"en", "The entry you've accessed.", false, true},
		{"en", "The entry you've accessed is empty.", false, false},
		{"en", "The number you have dialed is not in service.", false, false},
		{"en", "The museum opens at ten.", false, false},
		{"en", "My mother came yesterday.", false, false},
		{"en", "The second.", false, false},
		{"en", "All of it", false, true},
		{"de", "Wenn es morgen regnet", false, true},
		{"de", "Wenn es regnet, bleibe ich.", false, false},
		{"de", "Ich möchte", false, false},
		{"de", "Guten Tag, ich möchte", true, false},
		{"ru", "Если завтра дождь", false, true},
		{"zh", "如果明天下雨", false, true},
		{"zh", "你好、", true, false},
		{"ja", "駅に行きたいです。", false, false},
		{"", "If it rains", false, false},
		{"", "…", true, false},
	} {
		l := Of(row.tag)
		if l.SeldomEnds(row.text) != row.leans || l.OpensClause(row.text) != row.opens {
			t.Errorf("%q in %q: leans %v, opens %v", row.text, row.tag, l.SeldomEnds(row.text), l.OpensClause(row.text))
		}
	}
}

func TestQuestionsEndInTheMarkOfAnyScript(t *testing.T) {
	for text, want := range map[string]bool{"Is it?": true, "Is it?”": true, "そうですか？": true, "هل هذا صحيح؟": true,
		"It is.": false, "": false, "Why? Because.": false} {
		if Question(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// An entry that normalise would change could never match.
func TestTheTableIsNormalised(t *testing.T) {
	for _, l := range append(slices.Collect(maps.Values(languages)), common) {
		if l.unknown == "" {
			continue // only its stop words are known
		}
		if (l.answer == "") != (l.tag == "" || l.tag == "en") {
			t.Errorf("%q: answer %q", l.tag, l.answer)
		}
		for _, kind := range [][]string{l.backchannels, l.cannotEnd, l.seldomEnd, l.oftenEnd, l.clauseOpeners,
			l.floorTakers} {
			for _, p := range kind {
				if p == "" || l.normalise(p) != p {
					t.Errorf("%q: phrase %q is read as %q", l.tag, p, l.normalise(p))
				}
			}
		}
	}
}

func FuzzAnyTextIsRead(f *testing.F) {
	f.Add("en", "mm mm mm mm mm mm mm mm mm mm mm mm x")
	f.Add("zh", "嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯嗯不")
	f.Fuzz(func(t *testing.T, tag, text string) {
		l := Of(tag)
		if l.Backchannel(text) && len(l.normalise(text)) > longestBackchannel {
			t.Error("a long text is no backchannel")
		}
		_, _, _, _, _ = l.CannotEnd(text), l.SeldomEnds(text), l.OpensClause(text), l.OnlyTakesFloor(text),
			Question(text)
	})
}
