package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// VoiceCatalog manages the voices that an account may use.
type VoiceCatalog interface {
	// FindVoice returns the voice that ref names for the account. The error is a
	// contract.ErrNotFound if there is none.
	FindVoice(ctx context.Context, account string, ref contract.VoiceRef) (contract.ReturnVoice, error)
	// ListVoices returns all voices of a provider, in order.
	ListVoices(ctx context.Context, account string, from contract.VoiceProvider) ([]contract.ReturnVoice, error)
	// SaveVoice saves the voice of a generation under a name. The error is a
	// contract.ErrNotFound if there is no such generation, and an ErrInvalid or
	// ErrConflict if the name cannot be used.
	SaveVoice(ctx context.Context, account string, p contract.PostedVoice) (contract.ReturnVoice, error)
	// DeleteVoice deletes a saved voice. The error is a contract.ErrNotFound if
	// there is none, and an ErrConflict if configs use it.
	DeleteVoice(ctx context.Context, account, name string) error
}

func aboutVoices() descriptions {
	return inSection("Voices", descriptions{
		"GET /v0/tts/voices": {
			ID:      "listVoices",
			Summary: "List voices",
			Description: "provider selects the library of the box (HUME_AI) or the voices that the account has saved " +
				"(CUSTOM_VOICE). Text-to-speech and chats accept both, by id or by name. tags describe a voice.",
			Query: append(pageQuery(),
				describe.Parameter{
					Name:        "provider",
					Description: "Which voices.",
					Required:    true,
					Schema:      describe.Enum(contract.VoiceLibrary, contract.VoiceCustom),
				},
				parameter("ascending_order", "Whether the list is in ascending order.",
					describe.Boolean().WithDefault(true)),
				parameter("filter_tag", "Only voices with this tag, such as GENDER:Female; repeat it "+
					"to require several. The tags are "+tagNames()+".", describe.String())),
			Answers: ok(contract.ReturnPagedVoices{}),
		},
		"POST /v0/tts/voices": {
			ID:      "createVoice",
			Summary: "Save the voice of a generation",
			Description: "The name must differ from the names of the library and of the account's other voices, " +
				"ignoring case. Text-to-speech and chats accept it at once. If the generation has several voices, " +
				"the first one is saved.",
			Body:    "PostedVoice",
			Example: `{"generation_id":"795c949a-1510-4a80-9646-7d0863b023ab","name":"Keeper of the tower"}`,
			Answers: ok(contract.ReturnVoice{}),
			Errors:  []int{404, 409},
		},
		"DELETE /v0/tts/voices": {
			ID:      "deleteVoice",
			Summary: "Delete a saved voice",
			Description: "A voice that the newest version of a config uses cannot be deleted; the error names the " +
				"configs.",
			Query: []describe.Parameter{{
				Name:        "name",
				Description: "The name of the voice.",
				Required:    true,
				Schema:      describe.String(),
			}},
			Answers: ok(confirmation{}),
			Errors:  []int{404, 409},
		},
	})
}

// saveVoice saves the voice of a generation. Clients expect 200.
func (a *API) saveVoice(w http.ResponseWriter, r *http.Request, by caller, p contract.PostedVoice) error {
	nameActObject(r, p.Name)
	saved, err := a.Voices.SaveVoice(r.Context(), by.AccountID, p)
	return a.result(w, http.StatusOK, saved, err)
}

func (a *API) deleteVoice(w http.ResponseWriter, r *http.Request, by caller) error {
	name := r.URL.Query().Get("name")
	if name == "" {
		return contract.ErrInvalid{Field: "name",
			Why: "missing; give the name of a voice, as GET /v0/tts/voices?provider=CUSTOM_VOICE lists it"}
	}
	nameActObject(r, name)
	err := a.Voices.DeleteVoice(r.Context(), by.AccountID, name)
	return a.result(w, http.StatusOK, confirmation{"The voice is deleted."}, err)
}

// listVoices answers with a page of voices.
func (a *API) listVoices(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	ascending, err := readFlag(q, "ascending_order", true)
	if err != nil {
		return err
	}
	from := contract.VoiceProvider(q.Get("provider"))
	if from != contract.VoiceLibrary && from != contract.VoiceCustom {
		return contract.ErrInvalid{Field: "provider",
			Why: fmt.Sprintf("%.80q is not allowed; expected %s or %s", from, contract.VoiceLibrary,
				contract.VoiceCustom)}
	}
	has, err := readTags(q)
	if err != nil {
		return err
	}
	all, err := a.Voices.ListVoices(r.Context(), by.AccountID, from)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(v contract.ReturnVoice) bool { return !has(v) })
	if !ascending {
		slices.Reverse(all)
	}
	return a.result(w, http.StatusOK, contract.ReturnPagedVoices{Paging: paging(page, len(all)),
		VoicesPage: pageOf(all, page.Number, page.Size)}, nil)
}

// pageOf returns a page of a list, never nil.
func pageOf[T any](all []T, number, size int) []T {
	if number > len(all)/size { // also prevents an overflow below
		return []T{}
	}
	begin := min(number*size, len(all))
	return append([]T{}, all[begin:min(begin+size, len(all))]...)
}

// readTags parses the tags that voices must have, all of them.
func readTags(q url.Values) (has func(contract.ReturnVoice) bool, err error) {
	type tagValue struct {
		tag   contract.VoiceTag
		value string
	}
	var all []tagValue
	for _, text := range q["filter_tag"] {
		if text == "" {
			continue
		}
		name, value, whole := strings.Cut(text, ":")
		tag := contract.VoiceTag(strings.ToUpper(strings.TrimSpace(name)))
		if !whole || !slices.Contains(contract.VoiceTags(), tag) {
			return nil, contract.ErrInvalid{Field: "filter_tag", Why: fmt.Sprintf("%.80q is not allowed; expected a "+
				"tag and its value, as GENDER:Female; the tags are %s", text, tagNames())}
		}
		all = append(all, tagValue{tag, strings.TrimSpace(value)})
	}
	return func(v contract.ReturnVoice) bool {
		return !slices.ContainsFunc(all, func(t tagValue) bool { return !slices.Contains(v.Tags[t.tag], t.value) })
	}, nil
}

func tagNames() string {
	var names []string
	for _, t := range contract.VoiceTags() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}
