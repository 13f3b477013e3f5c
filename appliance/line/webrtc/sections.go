package webrtc

import (
	"iter"
	"strings"
)

// A mediaSection is an m-line of a session description with its attributes (RFC 8866,
// section 5.14).
type mediaSection string

// mediaSections yields the media sections of a description.
func mediaSections(sdp string) iter.Seq[mediaSection] {
	return func(yield func(mediaSection) bool) {
		_, media, _ := strings.Cut("\n"+sdp, "\nm=")
		for s := range strings.SplitSeq(media, "\nm=") {
			if s != "" && !yield(mediaSection(s)) {
				return
			}
		}
	}
}

// head returns a field of the m-line: media, port, protocol.
func (s mediaSection) head(n int) string {
	line, _, _ := strings.Cut(string(s), "\n")
	if fields := strings.Fields(line); n < len(fields) {
		return fields[n]
	}
	return ""
}

func (s mediaSection) kind() string     { return s.head(0) }
func (s mediaSection) protocol() string { return s.head(2) }

// value returns the rest of the first attribute that begins with name.
func (s mediaSection) value(name string) (value string, there bool) {
	for line := range strings.Lines(string(s)) {
		if value, there = strings.CutPrefix(line, "a="+name); there {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// open reports whether the client wants the section. The port is 0 if it does not, and also
// if the section is bundled with another (RFC 9143, section 6).
func (s mediaSection) open() bool {
	_, bundled := s.value("bundle-only")
	return s.head(1) != "0" || bundled
}

// The directions, from the client's point of view. sendrecv is the default.
const (
	sendrecv = "sendrecv"
	recvonly = "recvonly"
	sendonly = "sendonly"
	inactive = "inactive"
)

func (s mediaSection) direction() string {
	for line := range strings.Lines(string(s)) {
		switch way := strings.TrimSpace(strings.TrimPrefix(line, "a=")); way {
		case sendrecv, recvonly, sendonly, inactive:
			return way
		}
	}
	return sendrecv
}

func (s mediaSection) sends() bool { way := s.direction(); return way == sendrecv || way == sendonly }
func (s mediaSection) receives() bool {
	way := s.direction()
	return way == sendrecv || way == recvonly
}

// takesVoice reports whether the client can hear the voice over the section.
func (s mediaSection) takesVoice() bool { return s.kind() == "audio" && s.open() && s.receives() }

// sectionByMid returns the section with that mid.
func sectionByMid(sdp, mid string) (mediaSection, bool) {
	for s := range mediaSections(sdp) {
		if id, there := s.value("mid:"); there && id == mid {
			return s, true
		}
	}
	return "", false
}

// activated rewrites an offer for the library, which would permanently stop an inactive
// section; to the library the section is sendonly.
func activated(offer string) string {
	return withDirections(offer, func(s mediaSection) (from, to string) {
		if s.open() && s.direction() == inactive {
			return inactive, sendonly
		}
		return "", ""
	})
}

// withOfferedDirections rewrites an answer so that no section has a direction that was not offered (RFC
// 3264, section 6.1), which the library does not ensure.
func withOfferedDirections(answer, offer string) string {
	return withDirections(answer, func(s mediaSection) (from, to string) {
		mid, _ := s.value("mid:")
		asked, there := sectionByMid(offer, mid)
		way := s.direction()
		if !there || !asked.open() {
			return way, way
		}
		return way, directionOf(asked.sends() && s.receives(), asked.receives() && s.sends())
	})
}

// directionOf returns the direction attribute of the box.
func directionOf(receives, sends bool) string {
	switch {
	case receives && sends:
		return sendrecv
	case receives:
		return recvonly
	case sends:
		return sendonly
	}
	return inactive
}

// withDirections returns a description with changed directions.
func withDirections(sdp string, change func(mediaSection) (from, to string)) string {
	session, _, _ := strings.Cut(sdp, "\nm=")
	var b strings.Builder
	b.WriteString(session)
	for s := range mediaSections(sdp) {
		text := string(s)
		if from, to := change(s); from != to && s.kind() == "audio" {
			text = strings.Replace(text, "a="+from, "a="+to, 1)
		}
		b.WriteString("\nm=" + text)
	}
	return b.String()
}

// bundle begins the attribute that groups m-lines on one connection (RFC 9143).
const bundle = "a=group:BUNDLE "

// grouped rewrites an offer for the library, which refuses m-lines outside a group. If the
// client wants a connection for each, as GStreamer does by default, the voice is accepted
// and the other m-lines are refused.
func grouped(offer string) (taken string, apart bool) {
	if linesOf(offer, bundle) > 0 {
		return offer, false
	}
	session, media, _ := strings.Cut(offer, "\nm=")
	for section := range mediaSections(offer) {
		if mid, named := section.value("mid:"); named && section.kind() == "audio" {
			return strings.TrimRight(session, "\r") + "\r\n" + bundle + mid + "\r\nm=" + media, true
		}
	}
	return offer, false
}

// hasChannel reports whether the offer has a data channel.
func hasChannel(offer string) bool {
	return linesOf(offer, "m=application") > 0 && linesOf(offer, bundle) > 0
}

// without returns a description without the lines that begin with a text.
func without(sdp, with string) string {
	var b strings.Builder
	for line := range strings.Lines(sdp) {
		if !strings.HasPrefix(line, with) {
			b.WriteString(line)
		}
	}
	return b.String()
}
