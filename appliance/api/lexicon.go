package api

import (
	"errors"
	"fmt"
	"net/http"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/store"
)

func aboutLexicon() descriptions {
	return inSection("Pronunciations", descriptions{
		"GET /v0/box/lexicon": {
			ID:      "getLexicon",
			Summary: "List the account's pronunciations",
			Description: "They apply to chats and to text-to-speech. For other words, the pronunciations in the " +
				"settings of the box apply.",
			Answers: ok(contract.ReturnLexicon{}),
		},
		"PUT /v0/box/lexicon": {
			ID:          "putLexicon",
			Summary:     "Replace the account's pronunciations",
			Description: "Deletes the previous ones. Applies from the next sentence on.",
			Body:        "PostedLexicon",
			Example:     `{"entries":[{"word":"Nguyen","said":"/wɪn/"},{"word":"Joaquín","said":"hwah-KEEN"}]}`,
			Answers:     ok(contract.ReturnLexicon{}),
		},
		"GET /v0/box/lexicon/{word}": {
			ID:      "getPronunciation",
			Summary: "Get the pronunciation of a word",
			Answers: ok(contract.ReturnPronunciation{}),
		},
		"PUT /v0/box/lexicon/{word}": {
			ID:      "putPronunciation",
			Summary: "Set the pronunciation of a word",
			Body:    "PostedPronunciation",
			Example: `{"said":"/wɪn/"}`,
			Answers: append(ok(contract.ReturnPronunciation{}), created(contract.ReturnPronunciation{})...),
			Errors:  []int{409},
		},
		"DELETE /v0/box/lexicon/{word}": {
			ID:      "deletePronunciation",
			Summary: "Delete the pronunciation of a word",
			Answers: ok(confirmation{}),
		},
	})
}

func (a *API) getLexicon(w http.ResponseWriter, r *http.Request, by caller) error {
	all, err := a.Records.Lexicon(r.Context(), by.AccountID)
	answer := contract.ReturnLexicon{Entries: make([]contract.ReturnPronunciation, len(all))}
	for i, p := range all {
		answer.Entries[i] = pronunciationRecord(p)
	}
	return a.result(w, http.StatusOK, answer, err)
}

func (a *API) putLexicon(w http.ResponseWriter, r *http.Request, by caller, posted contract.PostedLexicon) error {
	all := make([]store.Pronunciation, len(posted.Entries))
	seen := map[string]int{}
	for i, e := range posted.Entries {
		field := fmt.Sprintf("entries.%d", i)
		var err error
		if all[i], err = pronunciation(field+".", e.Word, e.Said); err != nil {
			return err
		}
		if before, twice := seen[all[i].Key]; twice {
			return contract.ErrInvalid{Field: field,
				Why: fmt.Sprintf("%q is the same word as in entries.%d: leave out one of them", contract.Clip(e.Word),
					before)}
		}
		seen[all[i].Key] = i
	}
	if err := a.Records.SetLexicon(r.Context(), by.AccountID, all); err != nil {
		return err
	}
	a.lexiconChanged(by.AccountID)
	return a.getLexicon(w, r, by)
}

func (a *API) getPronunciation(w http.ResponseWriter, r *http.Request, by caller) error {
	word := r.PathValue("word")
	p, err := a.Records.Pronunciation(r.Context(), by.AccountID, text.LexiconKey(word))
	return a.result(w, http.StatusOK, pronunciationRecord(p), noWord(word, err))
}

func (a *API) putPronunciation(w http.ResponseWriter, r *http.Request, by caller,
	posted contract.PostedPronunciation) error {
	p, err := pronunciation("", r.PathValue("word"), posted.Said)
	if err != nil {
		return err
	}
	added, err := a.Records.SetPronunciation(r.Context(), by.AccountID, p, contract.MaxLexiconEntries)
	if full, ok := errors.AsType[store.ErrLexiconFull](err); ok {
		return contract.ErrConflict{Why: full.Error() + "; delete some that are not needed"}
	}
	if err != nil {
		return err
	}
	a.lexiconChanged(by.AccountID)
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return a.result(w, status, pronunciationRecord(p), nil)
}

func (a *API) deletePronunciation(w http.ResponseWriter, r *http.Request, by caller) error {
	word := r.PathValue("word")
	if err := a.Records.DeletePronunciation(r.Context(), by.AccountID, text.LexiconKey(word)); err != nil {
		return noWord(word, err)
	}
	a.lexiconChanged(by.AccountID)
	return a.result(w, http.StatusOK, confirmation{"pronunciation deleted"}, nil)
}

func (a *API) lexiconChanged(account string) {
	if a.LexiconChanged != nil {
		a.LexiconChanged(account)
	}
}

// pronunciation returns a row for a word and its pronunciation if the box can
// pronounce it. prefix precedes the names of its fields in errors.
func pronunciation(prefix, word, spoken string) (store.Pronunciation, error) {
	e, err := text.NewEntry(word, spoken)
	if wrong, is := errors.AsType[text.ErrEntry](err); is && wrong.InWord {
		return store.Pronunciation{}, contract.ErrInvalid{Field: prefix + "word", Why: err.Error()}
	}
	if err != nil {
		return store.Pronunciation{}, contract.ErrInvalid{Field: prefix + "said", Why: err.Error()}
	}
	return store.Pronunciation{Key: e.Key, Word: word, Spoken: spoken}, nil
}

// pronunciationRecord returns an entry as clients see it.
func pronunciationRecord(p store.Pronunciation) contract.ReturnPronunciation {
	e, err := text.NewEntry(p.Word, p.Spoken)
	if err != nil { // another version of the box, which knew more phonemes, stored it
		e = text.Entry{}
	}
	return contract.ReturnPronunciation{Word: p.Word, Said: p.Spoken, Phonemes: e.Phonemes}
}

func noWord(word string, err error) error { return notFound(err, "pronunciation of", word) }
