package contract

import (
	"fmt"
	"net/url"
)

// noteModel wants the URL of a custom language model to be one that it can be
// called by. Where a name leads shows with each call, and is checked then.
func noteModel(o object, p ModelProvider, resource string) {
	if p != ProviderCustom {
		return
	}
	const name = "model_resource"
	u, err := url.Parse(resource)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		o.note(name, "wrong_value", fmt.Sprintf("%q is not a URL; a custom language model is called by one like "+
			"https://host/chat/completions or wss://host/path", Clip(resource)))
		return
	case u.Scheme != "https" && u.Scheme != "wss" && u.Scheme != "http" && u.Scheme != "ws":
		o.note(name, "wrong_value",
			fmt.Sprintf("%q begins with none of https://, wss://, http:// and ws://", Clip(resource)))
		return
	case u.User != nil:
		o.note(name, "wrong_value", "it holds a user name or a password, which everybody sees who reads the config; "+
			"send a key as language_model_api_key in session_settings")
		return
	}
	if problem := badAddress(u); problem != "" {
		o.note(name, "wrong_value", problem)
	}
}
