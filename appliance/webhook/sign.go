package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Sign returns the signature of a body that is sent at a time: the HMAC-SHA256 of the body,
// a dot and the time in Unix seconds, in hexadecimal digits.
func Sign(key, body string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body + "." + strconv.FormatInt(at.Unix(), 10)))
	return hex.EncodeToString(mac.Sum(nil))
}

// sign sets the headers of a request that is sent at a time. Clients use both prefixes.
func sign(h http.Header, key, body string, at time.Time) {
	signature := Sign(key, body, at)
	for _, service := range []string{"Service", "Hume-AI"} {
		h.Set("X-"+service+"-Webhook-Signature", signature)
		h.Set("X-"+service+"-Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	}
}
