package text

import (
	"strings"
	"testing"
)

// Each line marks its homographs: V as a verb, O otherwise, after the word; - is left to eSpeak
// NG.
const homographSentences = `
Please close/V the window. | Please use/V the lift. | I read/O your letter last week. | Residents live/V here.
We go live/O at nine. | lead/O pipes | Record/V your name after the tone. | Please present/V your card.
The museum is close/O to the station. | There is no use/O in waiting. | I will read/V your letter tomorrow.
The guide will lead/- you to the garden. | The record/O is in room two. | The present/O exhibition ends in May.
We present/V the new collection. | All doctors are present/O today. | a live/O recording | You can use/V it twice.
Can I record/V this? | The contract/O was signed. | Have you read/O the leaflet? | Please read/V the leaflet.
Read/V the label before use/O. | He read/O the sign. | Did he read/V it? | She opened the letter and read/O it.
The letter was read/O aloud. | Shops close/V at six. | Where do you live/V? | Does the museum close/V on Mondays?
The museum uses/V the old name. | the many uses/O of tea | My sister lives/V in Leeds. | their lives/O in the mine
Traces of lead/O were found. | He objects/V to it. | an object/O of art | Close/V the door and use/V the stairs.
People who live/V nearby come often. | the close/V of business | Please do not refuse/V it. | refuse/O collection
A refund/O is possible; we refund/V the fare. | I refuse/V. | minute/O traces | ten minutes/- | a new permit/O
Tear/V along the line. | wear and tear/V | Our customers record/V their calls. | What you use/V is yours.
`

func TestHomographsByContext(t *testing.T) {
	between := func(r rune) bool { return r == '|' || r == '\n' }
	for sentence := range strings.FieldsFuncSeq(homographSentences, between) {
		checkHomographs(t, strings.TrimSpace(sentence), "en-US")
	}
}

// checkHomographs compares the uses found in a sentence with the marks.
func checkHomographs(t *testing.T, marked, language string) {
	t.Helper()
	plain := strings.NewReplacer("/V", "", "/O", "", "/-", "").Replace(marked)
	ws := wordsOf(plain)
	var at int
	for _, field := range strings.Fields(marked) {
		want := ""
		if i := strings.IndexByte(field, '/'); i >= 0 {
			want = field[i+1 : i+2]
		}
		if want == "" {
			at += len(field) + 1
			continue
		}
		got := "-"
		for i, w := range ws {
			if w.from != at {
				continue
			}
			stem, _, _ := homographOf(w.lower)
			got = [...]string{"-", "V", "O"}[ws.use(i, stem)]
		}
		if got != want {
			t.Errorf("%q: %q is read as %s, want %s", plain, field, got, want)
		}
		at += len(field) + 1 - 2
	}
}

func TestHomographPhonemesAreKnownToVoices(t *testing.T) {
	for word, h := range homographs() {
		for _, ipa := range []string{h.verb[0], h.verb[1], h.other[0], h.other[1]} {
			if got, err := parsePhonemes("/" + ipa + "/"); err != nil || got != ipa {
				t.Errorf("%s: %q is %q, %v", word, ipa, got, err)
			}
		}
	}
}
