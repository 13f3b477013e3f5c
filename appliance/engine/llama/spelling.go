package llama

import (
	"encoding/json"
	"strings"
	"unicode"
)

// restoreSpelling is a value of an argument with its free strings as they were said: of one that
// was said in part, that part. Of numbers, codes and addresses the model is believed.
func (c *copier) restoreSpelling(name string, raw json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	said, changed := c.restored(name, value)
	if !changed {
		return raw
	}
	out, err := json.Marshal(said)
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
		said := c.source.longestPart(v)
		return said, said != v
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

// longestPart is the longest part of a text that was said, as it was said; the text, where
// there is none or where it has numbers.
func (s source) longestPart(text string) string {
	if strings.ContainsFunc(text, unicode.IsDigit) || strings.Contains(text, "@") {
		return text
	}
	if said, at := s.find(text, true); at >= 0 {
		return said
	}
	words := strings.Fields(text)
	for n := len(words) - 1; n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			part := strings.Trim(strings.Join(words[i:i+n], " "), ".,;:!?\"'()")
			if said, at := s.find(part, true); at >= 0 && s.hasContentWord(part) {
				return said
			}
		}
	}
	return text
}
