package llama

import (
	"encoding/json"
	"strings"
	"unicode"
)

// restoreSpelling returns a value with its free strings spelled as they were said; of a string that
// was said in part, only that part. Numbers, codes and addresses are kept as the model wrote them.
func (c *copier) restoreSpelling(name string, raw json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	spelled, changed := c.restored(name, value)
	if !changed {
		return raw
	}
	out, err := json.Marshal(spelled)
	if err != nil {
		return raw
	}
	return out
}

func (c *copier) restored(name string, value any) (out any, changed bool) {
	switch v := value.(type) {
	case string:
		if !c.names[name] {
			return v, false
		}
		spelled := c.source.longestPart(v)
		return spelled, spelled != v
	case []any:
		for i := range v {
			item, other := c.restored(name, v[i])
			v[i], changed = item, changed || other
		}
	case map[string]any:
		for key := range v {
			part, other := c.restored(key, v[key])
			v[key], changed = part, changed || other
		}
	}
	return value, changed
}

// longestPart returns the longest part of text that was said, spelled as it was said. It returns
// text itself if no part was said or if text contains numbers.
func (s source) longestPart(text string) string {
	if strings.ContainsFunc(text, unicode.IsDigit) || strings.Contains(text, "@") {
		return text
	}
	if spelled, at := s.find(text, true); at >= 0 {
		return spelled
	}
	words := strings.Fields(text)
	for n := len(words) - 1; n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			part := strings.Trim(strings.Join(words[i:i+n], " "), ".,;:!?\"'()")
			if spelled, at := s.find(part, true); at >= 0 && s.hasContentWord(part) {
				return spelled
			}
		}
	}
	return text
}
