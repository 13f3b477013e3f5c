package api

import (
	"net/http"
	"strings"

	"parley/appliance/api/describe"
	"parley/web"
)

// page answers with a file of the box's pages.
func (a *API) page(name string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ caller) error {
		f, err := web.Open(name)
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", f.Type)
		h.Set("ETag", f.Tag)
		h.Set("Cache-Control", "no-cache") // kept, and asked about: the box may be of another version by then
		h.Set("Content-Security-Policy", web.Policy)
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

// front is what stands at /: the console for a browser, a few words for a person
// with a terminal.
func (a *API) front(w http.ResponseWriter, r *http.Request, by caller) error {
	w.Header().Add("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		return a.page("console.html")(w, r, by)
	}
	return a.about(w, r, by)
}

// pageRoutes are those of the box's pages and of what they need.
func (a *API) pageRoutes() []route {
	file := func(path, name, id, section, says, media string) route {
		return route{"GET", path, describe.Anybody, unread, quick, storesNothing, a.page(name), describe.Operation{
			ID:      id,
			Section: section,
			Summary: says,
			Answers: append(plain(media), unchanged()),
		}}
	}
	return append([]route{
		{"POST", "/v0/box/kiosks", describe.Anybody, tokenBody, normal, storing, reading(a.pairKiosk), pairKioskSays()},
		file("/kiosk", "kiosk.html", "kiosk", "Screens", "The page of a screen that talks", "text/html"),
		file("/kiosk/kiosk.js", "kiosk.js", "kioskScript", "Screens", "Its script", "text/javascript"),
		file("/kiosk/kiosk.css", "kiosk.css", "kioskStyle", "Screens", "Its style", "text/css"),
		file("/console/console.js", "console.js", "consoleScript", "The console", "The script of the page at /",
			"text/javascript"),
		file("/console/plots.js", "plots.js", "consolePlots", "The console",
			"What draws its charts, fetched with the first of them", "text/javascript"),
		file("/console/console.css", "console.css", "consoleStyle", "The console", "Its style", "text/css"),
	}, a.sessionRoutes()...)
}
