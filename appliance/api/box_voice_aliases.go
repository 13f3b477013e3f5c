package api

import (
	"context"
	"net/http"

	"parley/appliance/contract"
)

// VoiceAliases manages which voices stand in for names that the box has no voice
// for.
type VoiceAliases interface {
	// ListAliases returns all aliases, the operator's first.
	ListAliases(ctx context.Context) ([]contract.ReturnVoiceAlias, error)
	// SetAlias makes a voice stand in for a name. The error is a
	// contract.ErrInvalid if there is no such voice or the name is that of a
	// voice, and a contract.ErrConflict if the settings define the alias or there
	// are too many.
	SetAlias(ctx context.Context, name, voice string) (contract.ReturnVoiceAlias, error)
	// DeleteAlias deletes the operator's alias of a name. The error is a
	// contract.ErrNotFound if there is none.
	DeleteAlias(ctx context.Context, name string) error
}

func aboutAliases() descriptions {
	return inSection("Voice aliases", descriptions{
		"GET /v0/box/voice-aliases": {
			ID:      "listVoiceAliases",
			Summary: "List the aliases of voices",
			Description: "A voice stands in for a name or id that programs ask for and the box does not have. The " +
				"operator's aliases come first, then the built-in ones, for the voices of the cloud library.",
			Answers: ok(contract.ReturnVoiceAliases{}),
		},
		"PUT /v0/box/voice-aliases/{name}": {
			ID:      "putVoiceAlias",
			Summary: "Let a voice stand in for a name",
			Description: "Applies at once to all accounts, wherever a voice is named by name or id, ignoring case. " +
				"Voices that an account has saved, and those of the library, take precedence.",
			Body:    "PostedVoiceAlias",
			Example: `{"voice":"joe"}`,
			Answers: ok(contract.ReturnVoiceAlias{}),
			Errors:  []int{409},
		},
		"DELETE /v0/box/voice-aliases/{name}": {
			ID:          "deleteVoiceAlias",
			Summary:     "Delete an alias",
			Description: "For a voice of the cloud library, the built-in alias applies again.",
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
	alias, err := a.Aliases.SetAlias(r.Context(), r.PathValue("name"), posted.Voice)
	return a.result(w, http.StatusOK, alias, err)
}

func (a *API) deleteAlias(w http.ResponseWriter, r *http.Request, _ caller) error {
	err := a.Aliases.DeleteAlias(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, confirmation{"The alias is deleted."}, err)
}
