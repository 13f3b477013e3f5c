package openai

import "strings"

// stopper passes text on up to the first of some texts. It holds back what may be the beginning of one.
type stopper struct {
	stops []string
	emit  func(string) error
	held  string
}

func newStopper(stops []string, emit func(string) error) *stopper {
	return &stopper{stops: stops, emit: emit}
}

// add takes the next text. The error is errStopped when one of the texts came.
func (s *stopper) add(text string) error {
	text = s.held + text
	s.held = ""
	at := len(text)
	for _, stop := range s.stops {
		if i := strings.Index(text, stop); i >= 0 {
			at = min(at, i)
		}
	}
	if at < len(text) {
		if err := s.pass(text[:at]); err != nil {
			return err
		}
		return errStopped
	}
	keep := 0
	for _, stop := range s.stops {
		keep = max(keep, overlap(text, stop))
	}
	s.held = text[len(text)-keep:]
	return s.pass(text[:len(text)-keep])
}

// end passes on what was held back.
func (s *stopper) end() error { return s.pass(s.held) }

func (s *stopper) pass(text string) error {
	if text == "" {
		return nil
	}
	return s.emit(text)
}

// overlap returns how many bytes at the end of text are the beginning of stop.
func overlap(text, stop string) int {
	for n := min(len(text), len(stop)-1); n > 0; n-- {
		if strings.HasSuffix(text, stop[:n]) {
			return n
		}
	}
	return 0
}
