package llama

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// template writes a conversation as the model was trained to read it.
type template struct {
	lib   *library
	vocab vocabulary
	text  *byte // of the model, or libllama's name of a format
	// terse says that only the first token of the markup separates a user's message from the reply.
	terse bool
	// fromModel says that the model has a template, whether or not the library knows it.
	fromModel bool
}

// A part of a rendered conversation is markup of the template, or the content of a message.
type part struct {
	markup  string
	message int // index; -1: markup
}

// newTemplate uses the model's own template, or ChatML, which most models follow, if the library
// does not know it.
func newTemplate(lib *library, model handle, vocab vocabulary, log *slog.Logger) template {
	builtIn := lib.modelChatTemplate(model, nil)
	t := template{
		lib:       lib,
		vocab:     vocab,
		text:      cString(builtIn),
		fromModel: builtIn != "",
	}
	probe := []engine.Role{engine.System, engine.User, engine.Assistant, engine.User}
	if builtIn != "" {
		if parts, err := t.parts(probe, true); err == nil && complete(parts, len(probe)) {
			return t
		}
	}
	why := "the model's chat template is not known to libllama"
	if builtIn == "" {
		why = "the model has no chat template: it is a base model"
	}
	log.Warn(why+"; conversations are written as ChatML, which it may not follow", "template_bytes", len(builtIn))
	t.text = cString("chatml")
	return t
}

// HasTemplate reports whether the model has a chat template. A base model, which was not trained on
// conversations, has none.
func (m *Model) HasTemplate() bool { return m.template.fromModel }

// complete reports whether parts contain all of n messages.
func complete(parts []part, n int) bool {
	for _, p := range parts {
		if p.message >= 0 {
			n--
		}
	}
	return n == 0
}

// tokens tokenizes messages; reply adds the beginning of the assistant's next turn. Without reply,
// the tokens are the beginning of those of the continued conversation, up to where the user's next
// words would follow, so that little more than those words has to be computed later. If the user is
// still speaking, the tokens end with the newest word. shared is how many of them other
// conversations may share: the constant part of the system messages at the beginning.
func (t template) tokens(messages []engine.Message, reply bool, memo map[string][]Token) (out []Token, shared int,
	err error) {
	roles := make([]engine.Role, len(messages))
	for i, m := range messages {
		roles[i] = m.Role
	}
	if n := len(roles); !reply && n > 0 && roles[n-1] != engine.User {
		roles = append(roles, engine.User)
	}
	parts, err := t.parts(roles, reply)
	if err != nil {
		return nil, 0, err
	}
	ends := false // the shared part
	if t.vocab.addBOS {
		out = append(out, t.vocab.bos)
	}
	for i, p := range parts {
		if p.message == len(messages) {
			break
		}
		var piece, rest []Token
		if p.message < 0 {
			piece, err = memoized(memo, "m"+p.markup, p.markup, t.vocab.markup)
			if t.terse && opensReply(roles, parts, i, reply) {
				piece = piece[:min(1, len(piece))]
			}
		} else {
			ends = ends || messages[p.message].Role != engine.System
			content, changing := splitVolatile(messages[p.message])
			if piece, err = memoized(memo, "p"+content, content, t.contentTokens); err == nil && changing != "" {
				rest, err = memoized(memo, "p"+changing, changing, t.vocab.plain)
			}
		}
		if err != nil {
			return nil, 0, err
		}
		if len(out) == 1 && t.vocab.addBOS && len(piece) > 0 && piece[0] == t.vocab.bos {
			piece = piece[1:] // the template adds it too
		}
		if !ends {
			shared = len(out) + len(piece)
		}
		ends = ends || len(rest) > 0
		out = append(append(out, piece...), rest...)
		if !reply && p.message == len(messages)-1 && messages[p.message].Role == engine.User {
			break
		}
	}
	return out, shared, nil
}

// opensReply reports whether parts[at] is the markup between a user's message and its reply.
func opensReply(roles []engine.Role, parts []part, at int, reply bool) bool {
	if at == 0 || parts[at-1].message < 0 || roles[parts[at-1].message] != engine.User {
		return false
	}
	if at == len(parts)-1 {
		return reply
	}
	return roles[parts[at+1].message] == engine.Assistant
}

// splitVolatile splits the content of a message where it becomes specific to the conversation.
// White space belongs to the part that follows it, as in most vocabularies.
func splitVolatile(m engine.Message) (steady, changing string) {
	content := strings.TrimSpace(m.Content)
	at := len(m.Content) - m.VolatileBytes - strings.Index(m.Content, content)
	if at >= len(content) {
		return content, ""
	}
	steady = strings.TrimSpace(content[:max(at, 0)])
	return steady, content[len(steady):]
}

// contentTokens tokenizes the content of a message: plain text except for marks.
func (t template) contentTokens(text string) (out []Token, err error) {
	for text != "" {
		at, mark := len(text), ""
		for m := range marks {
			if i := strings.Index(text, m); i >= 0 && i < at {
				at, mark = i, m
			}
		}
		tokens, err := t.vocab.plain(text[:at])
		if err != nil {
			return nil, err
		}
		if out = append(out, tokens...); mark != "" {
			if tokens, err = t.vocab.markup(marks[mark]); err != nil {
				return nil, err
			}
			out = append(out, tokens...)
		}
		text = text[at+len(mark):]
	}
	return out, nil
}

// memoized returns the tokens of text from memo, or tokenizes it.
func memoized(memo map[string][]Token, key, text string, tokenize func(string) ([]Token, error)) ([]Token, error) {
	if known, ok := memo[key]; ok {
		return known, nil
	}
	tokens, err := tokenize(text)
	if err == nil {
		memo[key] = tokens
	}
	return tokens, err
}

// parts renders a conversation with a placeholder for every message and splits the result there. So
// no message passes through the template, which could interpret its markup.
func (t template) parts(roles []engine.Role, reply bool) ([]part, error) {
	rendered, err := t.render(roles, reply)
	if err != nil {
		return nil, err
	}
	var out []part
	for i := range roles {
		before, after, found := strings.Cut(rendered, placeholder(i))
		if !found {
			continue // the template leaves out this role here
		}
		if before != "" {
			out = append(out, part{markup: before, message: -1})
		}
		out = append(out, part{message: i})
		rendered = after
	}
	if rendered != "" {
		out = append(out, part{markup: rendered, message: -1})
	}
	return out, nil
}

func placeholder(i int) string { return fmt.Sprintf("\x02%d\x03", i) }

func (t template) render(roles []engine.Role, reply bool) (string, error) {
	messages := make([]chatMessage, len(roles)+1) // one more, so that it is never empty
	for i, r := range roles {
		if !slices.Contains([]engine.Role{engine.System, engine.User, engine.Assistant}, r) {
			return "", fmt.Errorf("llama: message %d has role %q: %q, %q and %q are allowed", i, r, engine.System,
				engine.User, engine.Assistant)
		}
		messages[i] = chatMessage{role: cString(string(r)), content: cString(placeholder(i))}
	}
	buf := make([]byte, 64*len(messages)+256)
	n := t.lib.chatApply(t.text, &messages[0], uint64(len(roles)), reply, &buf[0], int32(len(buf)))
	if int(n) > len(buf) {
		buf = make([]byte, n)
		n = t.lib.chatApply(t.text, &messages[0], uint64(len(roles)), reply, &buf[0], int32(len(buf)))
	}
	runtime.KeepAlive(messages)
	if n < 0 {
		return "", fmt.Errorf("llama: libllama does not know the model's chat template (result %d)", n)
	}
	return string(buf[:n]), nil
}
