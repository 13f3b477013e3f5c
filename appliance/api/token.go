package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// clientCredentials is the only grant type (RFC 6749, section 4.4).
const clientCredentials = "client_credentials"

// tokenAsked is a request for an access token.
type tokenAsked struct {
	GrantType string `json:"grant_type"` // client_credentials
}

// tokenMade answers a request for an access token.
type tokenMade struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"` // seconds
	IssuedAt    int64  `json:"issued_at"`  // Unix milliseconds
	GrantType   string `json:"grant_type"`
}

// tokenRefused is a problem as clients of OAuth read it: error is one of the
// words of RFC 6749, section 5.2, which they act upon.
type tokenRefused struct {
	problem
	Description string `json:"error_description"`
}

// errToken refuses a token in the words of OAuth.
type errToken struct {
	status    int
	code, why string
}

func (e errToken) Error() string { return e.why }

// makeToken issues an access token to a client that presents a valid API key and
// secret.
func (a *API) makeToken(w http.ResponseWriter, r *http.Request, by caller) error {
	key, secret := by.client.key, by.client.secret
	if len(key) > maxKeyBytes || len(secret) > maxKeyBytes {
		key = ""
	}
	grantType, err := grantType(r.Body, r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	switch grantType {
	case clientCredentials:
	case "":
		return errToken{http.StatusBadRequest, "invalid_request",
			"grant_type is missing; send grant_type=client_credentials, once, as a form or as JSON"}
	default:
		return errToken{http.StatusBadRequest, "unsupported_grant_type",
			"grant_type: only client_credentials is supported"}
	}
	at := a.now()
	token, err := a.Keys.CreateToken(r.Context(), key, secret, at)
	if errors.Is(err, store.ErrNotFound) {
		err := a.wrongCredential(r, "the API key or its secret key is wrong, or the key was revoked")
		if _, ok := errors.AsType[contract.ErrUnauthorized](err); ok {
			return invalidClient(err.Error())
		}
		return err
	}
	if err != nil {
		return err
	}
	a.recent.remember(token, "")
	w.Header().Set("Pragma", "no-cache") // RFC 6749, section 5.1
	return a.result(w, http.StatusOK, tokenMade{token, "Bearer", int(store.TokenLife.Seconds()), at.UnixMilli(),
		clientCredentials}, nil)
}

// invalidClient returns the OAuth error for missing or wrong credentials.
func invalidClient(why string) error {
	return errToken{http.StatusUnauthorized, "invalid_client", why}
}

// grantType parses the one field of the body. It is empty if the body does not
// have the field exactly once.
func grantType(body io.Reader, contentType string) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err == nil && kind == "application/json" {
		var given tokenAsked
		if json.Unmarshal(raw, &given) != nil {
			return "", nil
		}
		return given.GrantType, nil
	}
	// A form, also where the client does not say what it sends.
	form, err := url.ParseQuery(string(raw))
	if err != nil || len(form["grant_type"]) != 1 {
		return "", nil
	}
	return form.Get("grant_type"), nil
}

func aboutToken() descriptions {
	return inSection("Access", descriptions{
		"POST /oauth2-cc/token": {
			ID:      "createToken",
			Summary: "Create an access token",
			Description: "It is valid for 30 minutes and opens live chats, speech and the list of voices, and " +
				"nothing else. A web page can use it without holding the key.",
			Form:    tokenAsked{},
			Example: `{"grant_type":"client_credentials"}`,
			Answers: append(ok(tokenMade{}),
				describe.Answer{Status: 400, Value: tokenRefused{}},
				describe.Answer{Status: 401, Value: tokenRefused{}}),
			Errors: []int{413},
		},
	})
}
