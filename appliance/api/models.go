package api

import (
	"net/http"

	"parley/appliance/contract"
)

// Models lists the language models that the box can serve.
type Models interface {
	LanguageModels() contract.ReturnLanguageModels
}

// languageModels lists the models that a config may name.
func (a *API) languageModels(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return a.result(w, http.StatusOK, a.Models.LanguageModels(), nil)
}

func aboutModels() descriptions {
	return inSection("Language models", descriptions{
		"GET /v0/evi/language-models": {
			ID:      "listLanguageModels",
			Summary: "List the language models of this box",
			Answers: ok(contract.ReturnLanguageModels{}),
		},
	})
}
