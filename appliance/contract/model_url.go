package contract

import (
	"fmt"
	"net/url"
)

// noteModel notes a problem if the URL of a custom language model cannot be
// called. A host name is resolved and checked with each call.
func noteModel(o object, p ModelProvider, resource string) {
	if p != ProviderCustom {
		return
	}
	const name = "model_resource"
	u, err := url.Parse(resource)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		o.note(name, "wrong_value", fmt.Sprintf("%q is not a URL; expected the URL of a custom language model, "+
			"such as https://host/chat/completions or wss://host/path", Clip(resource)))
		return
	case u.Scheme != "https" && u.Scheme != "wss" && u.Scheme != "http" && u.Scheme != "ws":
		o.note(name, "wrong_value",
			fmt.Sprintf("%q begins with none of https://, wss://, http:// and ws://", Clip(resource)))
		return
	case u.User != nil:
		o.note(name, "wrong_value", "it contains a user name or a password, which everyone who reads the config sees; "+
			"send a key as language_model_api_key in session_settings")
		return
	}
	if problem := badAddress(u); problem != "" {
		o.note(name, "wrong_value", problem)
	}
}
