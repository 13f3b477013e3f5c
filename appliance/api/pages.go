package api

import (
	"net/http"
	"regexp"
	"strings"

	"parley/appliance/api/describe"
	"parley/web"
)

// page returns a handler that serves a file of the box's pages.
func (a *API) page(name string) handler { return a.pageWith(name, web.Policy) }

func (a *API) pageWith(name, policy string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ caller) error {
		f, err := web.Open(name)
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", f.Type)
		h.Set("ETag", f.Tag)
		h.Set("Cache-Control", "no-cache") // revalidate: an update of the box changes the text
		h.Set("Content-Security-Policy", policy)
		h.Set("Permissions-Policy", "microphone=(self), screen-wake-lock=(self)")
		h.Set("Referrer-Policy", "no-referrer")
		if r.Header.Get("If-None-Match") == f.Tag {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		_, err = w.Write(f.Text)
		return err
	}
}

// home serves the console to a browser, and plain text to other clients.
func (a *API) home(w http.ResponseWriter, r *http.Request, by caller) error {
	w.Header().Add("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		return a.pageWith("console.html", a.consolePolicy(r))(w, r, by)
	}
	return a.plainHome(w, r, by)
}

// plainHost matches the name or IPv4 address of a host as a policy may have it.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]{1,253}$`)

// consolePolicy returns the policy of the console. While it may set the box up, it may also look
// whether the box is back at another port of the same host.
func (a *API) consolePolicy(r *http.Request) string {
	if a.Records == nil || a.BoxSetUp == nil {
		return web.Policy
	}
	if _, err := a.maySetUp(r); err != nil || !plainHost.MatchString(hostName(r)) {
		return web.Policy
	}
	return strings.Replace(web.Policy, "connect-src 'self'", "connect-src 'self' http://"+hostName(r)+":*", 1)
}

func aboutPages() descriptions {
	file := func(section, id, summary, media string) describe.Operation {
		return describe.Operation{
			ID:      id,
			Section: section,
			Summary: summary,
			Answers: append(ofType(media), unchanged()),
		}
	}
	return descriptions{
		"GET /kiosk":           file("Screens", "kiosk", "The page of a screen", "text/html"),
		"GET /kiosk/kiosk.js":  file("Screens", "kioskScript", "The script of the page", "text/javascript"),
		"GET /kiosk/kiosk.css": file("Screens", "kioskStyle", "The style of the page", "text/css"),
		"GET /console/console.js": file("The console", "consoleScript", "The script of the console",
			"text/javascript"),
		"GET /console/shared.js": file("The console", "consoleShared",
			"What several scripts of the console need", "text/javascript"),
		"GET /console/answers.js": file("The console", "consoleAnswers",
			"The script of the console's page of approved answers", "text/javascript"),
		"GET /console/expression.js": file("The console", "consoleExpression",
			"The script of the console's page of expression", "text/javascript"),
		"GET /console/fleet.js": file("The console", "consoleFleet",
			"The script of the console's pages of a hub", "text/javascript"),
		"GET /console/plots.js": file("The console", "consolePlots",
			"The script that draws the console's charts", "text/javascript"),
		"GET /console/console.css": file("The console", "consoleStyle", "The style of the console", "text/css"),
	}
}
