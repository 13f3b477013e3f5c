package webrtc

import (
	"iter"
	"strings"
)

// A mediaSection is an m-line of a description with what belongs to it (RFC 8866, section 5.14).
type mediaSection string

// mediaSections are those of a description.
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

// head is a field of the m-line: what it is of, the port, the protocol.
func (s mediaSection) head(n int) string {
	line, _, _ := strings.Cut(string(s), "\n")
	if fields := strings.Fields(line); n < len(fields) {
		return fields[n]
	}
	return ""
}

func (s mediaSection) kind() string     { return s.head(0) }
func (s mediaSection) protocol() string { return s.head(2) }

// value is that of the first attribute that begins so.
func (s mediaSection) value(name string) (value string, there bool) {
	for line := range strings.Lines(string(s)) {
		if value, there = strings.CutPrefix(line, "a="+name); there {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// open tells whether the client wants it: its port is 0 where it does not, or where
// it goes over the connection of another (RFC 9143, section 6).
func (s mediaSection) open() bool {
	_, bundled := s.value("bundle-only")
	return s.head(1) != "0" || bundled
}

// The ways in which sound goes, as the client says it: both where it says nothing.
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

// takesVoice tells whether the client hears what goes over it.
func (s mediaSection) takesVoice() bool { return s.kind() == "audio" && s.open() && s.receives() }

// named is the section of a description with that mid.
func named(sdp, mid string) (mediaSection, bool) {
	for s := range mediaSections(sdp) {
		if id, there := s.value("mid:"); there && id == mid {
			return s, true
		}
	}
	return "", false
}

// awake is an offer as the library takes it, which ends for good what a client only
// holds (inactive): to the library that speaks, and says nothing.
func awake(offer string) string {
	return turned(offer, func(s mediaSection) (from, to string) {
		if s.open() && s.direction() == inactive {
			return inactive, sendonly
		}
		return "", ""
	})
}

// fitting is the answer to an offer as its client expects it: sound goes no way that was
// not offered (RFC 3264, section 6.1), which the library does not always keep to.
func fitting(answer, offer string) string {
	return turned(answer, func(s mediaSection) (from, to string) {
		mid, _ := s.value("mid:")
		asked, there := named(offer, mid)
		way := s.direction()
		if !there || !asked.open() {
			return way, way
		}
		return way, wayOf(asked.sends() && s.receives(), asked.receives() && s.sends())
	})
}

// wayOf is how the box says what it does.
func wayOf(receives, sends bool) string {
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

// turned is a description with the directions changed of some sections.
func turned(sdp string, change func(mediaSection) (from, to string)) string {
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

// bundle begins the line that has several m-lines go over one connection (RFC 9143).
const bundle = "a=group:BUNDLE "

// grouped is an offer as the library takes it, which refuses every m-line that is in
// no group: of a client that has each go over a connection of its own, as GStreamer
// does unless it is told otherwise, the voice is taken and the others are refused.
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

// hasChannel tells whether a client that offers so gets a data channel.
func hasChannel(offer string) bool {
	return linesOf(offer, "m=application") > 0 && linesOf(offer, bundle) > 0
}

// without is a description without the lines that begin so.
func without(sdp, with string) string {
	var b strings.Builder
	for line := range strings.Lines(sdp) {
		if !strings.HasPrefix(line, with) {
			b.WriteString(line)
		}
	}
	return b.String()
}
