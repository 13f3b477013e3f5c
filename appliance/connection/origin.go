package connection

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// CheckOrigin returns a contract.ErrForbidden for the request for a socket that a page of a foreign origin makes,
// unless origins lists it ("https://kiosk.example", or "*" for all). Browsers do not keep pages from opening sockets
// anywhere; clients other than browsers send no origin.
func CheckOrigin(r *http.Request, origins []string) error {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(origins, "*") {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) {
		return nil
	}
	if slices.ContainsFunc(origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return nil
	}
	return contract.ErrForbidden{Why: fmt.Sprintf("pages of origin %.80q may not connect to this box; its operator "+
		"can allow them with the setting origins", origin)}
}
