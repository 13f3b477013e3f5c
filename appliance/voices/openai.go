package voices

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/store"
)

// openAINames are the voices of OpenAI, each with the voice of the library that stands in for it: that of the same name
// where there is one, and otherwise one that fits what OpenAI says of it. docs/openai.md has the same table.
var openAINames = map[string]string{
	"alloy":   "kokoro-af-alloy",
	"ash":     "kokoro-am-michael",
	"ballad":  "kokoro-bm-lewis",
	"cedar":   "kokoro-am-adam",
	"coral":   "kokoro-af-bella",
	"echo":    "kokoro-am-echo",
	"fable":   "kokoro-bm-fable",
	"marin":   "kokoro-af-heart",
	"nova":    "kokoro-af-nova",
	"onyx":    "kokoro-am-onyx",
	"sage":    "kokoro-af-sarah",
	"shimmer": "kokoro-af-sky",
	"verse":   "kokoro-am-puck",
}

// FindOpenAI returns the voice that a name or an id of a request of OpenAI's API means for an account: its own or one
// of the library, else the stand-in for one of OpenAI's names. Where the pack of the stand-in is not installed, it is
// the voice of the library that is most like it. The error is a contract.ErrInvalid.
func (v Voices) FindOpenAI(ctx context.Context, account, name string) (contract.ReturnVoice, error) {
	found, err := v.Find(ctx, account, contract.VoiceRef{Name: name})
	if _, missing := errors.AsType[contract.ErrNotFound](err); !missing {
		return found.ReturnVoice, err
	}
	if byID, err := v.Find(ctx, account, contract.VoiceRef{ID: name}); err == nil {
		return byID.ReturnVoice, nil
	}
	library := engines.Library(v.Config)
	if like, ok := openAINames[store.FoldedName(name)]; ok {
		ours, _ := voice.Find(voice.Kokoro(), like)
		if b, any := nearest(library, ours); any {
			return libraryRecord(b), nil
		}
	}
	var names []string
	for _, b := range library {
		names = append(names, strings.ToLower(b.Name))
	}
	return contract.ReturnVoice{}, contract.ErrInvalid{Field: "voice",
		Why: fmt.Sprintf("%q is no voice of this box or of the account; there are %s", contract.Clip(name),
			strings.Join(names, ", "))}
}
