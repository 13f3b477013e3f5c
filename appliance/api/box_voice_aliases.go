package api

import (
	"context"
	"net/http"

	"parley/appliance/contract"
)

// VoiceAliases knows which voices of the box stand in for others.
type VoiceAliases interface {
	// ListAliases returns all, those of the operator first.
	ListAliases(ctx context.Context) ([]contract.ReturnVoiceAlias, error)
	// SetAlias has a voice stand in for a name. A contract.ErrInvalid: there is no
	// such voice, or the name is that of one; an ErrConflict: the settings say what
	// stands in for it, or there are too many.
	SetAlias(ctx context.Context, name, voice string) (contract.ReturnVoiceAlias, error)
	// DeleteAlias forgets the alias of a name. A contract.ErrNotFound: the box has
	// none.
	DeleteAlias(ctx context.Context, name string) error
}

func aboutAliases() descriptions {
	return inSection("Names of other voices", descriptions{
		"GET /v0/box/voice-aliases": {
			ID:      "listVoiceAliases",
			Summary: "Which voices stand in for those that the box does not have",
			Description: "By the name or id that programs ask for: those of the operator, and those that are built " +
				"in, which are the voices of the cloud library.",
			Answers: ok(contract.ReturnVoiceAliases{}),
		},
		"PUT /v0/box/voice-aliases/{name}": {
			ID:      "putVoiceAlias",
			Summary: "Have a voice stand in for a name",
			Description: "It holds at once, for all accounts, wherever a voice is named by name or by id, in small " +
				"or in large letters. A voice that an account has saved under the name, and one of the library, go " +
				"before it.",
			Body:    "PostedVoiceAlias",
			Example: `{"voice":"joe"}`,
			Answers: ok(contract.ReturnVoiceAlias{}),
			Errors:  []int{409},
		},
		"DELETE /v0/box/voice-aliases/{name}": {
			ID:          "deleteVoiceAlias",
			Summary:     "Have no voice stand in for a name",
			Description: "For a voice of the cloud library, the one that is built in stands in again.",
			Answers:     ok(confirmation{}),
		},
	})
}

func (a *API) listAliases(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.Aliases.ListAliases(r.Context())
	all = append([]contract.ReturnVoiceAlias{}, all...)
	return a.result(w, http.StatusOK, contract.ReturnVoiceAliases{Aliases: all}, err)
}

func (a *API) putAlias(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedVoiceAlias) error {
	made, err := a.Aliases.SetAlias(r.Context(), r.PathValue("name"), posted.Voice)
	return a.result(w, http.StatusOK, made, err)
}

func (a *API) deleteAlias(w http.ResponseWriter, r *http.Request, _ caller) error {
	err := a.Aliases.DeleteAlias(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, confirmation{"No voice stands in for it by an alias any more."}, err)
}
