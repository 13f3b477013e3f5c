package importer

import (
	"context"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

// A stager puts the records of one file into the spool.
type stager struct {
	*Import
	ctx  context.Context
	file int   // index of the file
	page bool  // the file has a page, maybe an empty one
	err  error // of the spool
}

// found stages an object, if it is a record. It reports whether it is one, and whether
// there may be others in it.
func (s *stager) found(n *node, run int64, pos int) (is, descend bool) {
	if s.err != nil || s.ctx.Err() != nil {
		return false, false
	}
	switch shapeOf(n) {
	case isEvent:
		s.event(n, run, pos)
	case isChat:
		s.chat(n)
		s.eventsPage(n, n.str("chat_group_id"))
		return true, true
	case isGroup:
		s.group(n)
		return true, true
	case isGroupPage:
		s.page = true
		s.eventsPage(n, n.str("id"))
		return false, true
	case isAudio:
		s.write(`INSERT OR IGNORE INTO audio VALUES (?, ?, ?)`, n.str("id"), n.str("filename"), s.file)
	case isTool:
		s.version(store.KindTool, n, 0)
	case isPrompt:
		s.version(store.KindPrompt, n, 0)
	case isConfig:
		s.config(n)
	case isVoice:
		s.voice(n, 0)
	case isPage:
		s.page = true
		return false, true
	case isForeign:
		kind := foreignKind(n)
		s.report.leftOut(Line{Kind: kind, File: s.name(), Why: "a box does not import records of this kind"})
		return true, true
	default:
		return false, true
	}
	return true, false
}

func (s *stager) name() string { return s.files[s.file] }

// write changes the spool, and returns the number of changed rows.
func (s *stager) write(text string, args ...any) int64 {
	if s.err != nil {
		return 0
	}
	n, err := s.spool.run(s.ctx, text, args...)
	s.err = err
	return n
}

// left reports a record that is left out.
func (s *stager) left(kind, id, why string) {
	s.report.leftOut(Line{Kind: kind, ID: contract.Clip(id), File: s.name(), Why: why})
}

// badID says what is wrong with an id, or returns "": the box names files after ids.
func badID(id string) string {
	if contract.ValidID(id) {
		return ""
	}
	return "its id is not a UUID"
}

// version stages a version of a prompt, a tool or a config. One that a config has within it
// is embedded: the record itself comes first.
func (s *stager) version(kind store.Kind, n *node, embedded int) {
	id := n.str("id")
	number, ok := n.versionNumber("version")
	why := badID(id)
	if !ok {
		why = "its version is not a whole number from 0"
	}
	if why != "" {
		s.left(string(kind), id, why)
		return
	}
	body := string(n.appendJSON(nil, true))
	args := []any{kind, id, number, embedded, n.str("name"), n.millis("created_on"), n.millis("modified_on"), body,
		s.file}
	const insert = `INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO `
	if s.write(insert+`NOTHING`, args...) > 0 || s.err != nil {
		return
	}
	if embedded == 0 && s.write(insert+`UPDATE SET embedded = 0, name = excluded.name, created = excluded.created,
		modified = excluded.modified, body = excluded.body, file = excluded.file WHERE embedded = 1`, args...) > 0 {
		return
	}
	if embedded != 0 {
		return
	}
	same, err := s.spool.number(s.ctx, `
		SELECT count(*) FROM version WHERE kind = ? AND id = ? AND version = ? AND body = ?`, kind, id, number, body)
	if s.err = err; err == nil && same == 0 {
		s.report.differs(Line{Kind: string(kind), ID: id, Version: &number, File: s.name(),
			Why: "another file has it with other content, and was read first"})
	}
}

// config stages a config, and what it has within it.
func (s *stager) config(n *node) {
	s.version(store.KindConfig, n, 0)
	if p := n.get("prompt"); p.has("id", "version", "text") {
		s.version(store.KindPrompt, p, 1)
	}
	if tools := n.get("tools"); tools != nil {
		for _, t := range tools.values {
			if t.has("id", "version", "parameters") {
				s.version(store.KindTool, t, 1)
			}
		}
	}
	if v := n.get("voice"); v.has("name") || v.has("id") {
		s.voice(v, 1)
	}
}

// voice stages a voice, by its id if it has one.
func (s *stager) voice(n *node, used int) {
	id, name := n.str("id"), n.str("name")
	if id == "" {
		id = name
	}
	s.write(`INSERT INTO voice VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = max(used, excluded.used)`,
		id, name, n.str("provider"), used, s.file)
}

func (s *stager) group(n *node) {
	if why := badID(n.str("id")); why != "" {
		s.left(kindGroup, n.str("id"), why)
		return
	}
	number, _ := n.versionNumber("num_chats")
	s.write(`INSERT INTO grp VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET chats = max(chats, excluded.chats)`,
		n.str("id"), number, s.file)
}

// eventsPage notes which group the events of a page belong to, and their order.
func (s *stager) eventsPage(n *node, group string) {
	var direction any // unknown
	switch contract.Direction(n.str("pagination_direction")) {
	case contract.Ascending:
		direction = 1
	case contract.Descending:
		direction = -1
	}
	if page := n.get("events_page"); page != nil && badID(group) == "" {
		s.write(`INSERT OR IGNORE INTO run_page VALUES (?, ?, ?)`, page.run, group, direction)
	}
}

// chat stages a chat. Its record may come several times, with more or less in it, or from
// before its end.
func (s *stager) chat(n *node) {
	id, group, start := n.str("id"), n.str("chat_group_id"), n.millis("start_timestamp")
	why := badID(id)
	switch {
	case why == "" && badID(group) != "":
		why = "the id of its group is not a UUID"
	case why == "" && start == 0:
		why = "its start_timestamp is not a time"
	}
	if why != "" {
		s.left(kindChat, id, why)
		return
	}
	metadata, ok := n.jsonText("metadata")
	if !ok || len(metadata) > contract.MaxMetadataBytes {
		s.report.mended(Line{Kind: kindChat, ID: id, File: s.name(),
			Why: "its metadata is left out: it is not JSON, or too long"})
		metadata = ""
	}
	count, _ := n.versionNumber("event_count")
	version, _ := n.get("config").versionNumber("version")
	config := n.get("config").str("id")
	if badID(config) != "" {
		config = ""
	}
	s.write(`
		INSERT INTO chat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
		       status = iif(ended = 0, excluded.status, status), ended = max(ended, excluded.ended),
		       config_version = iif(config = '', excluded.config_version, config_version),
		       config = iif(config = '', excluded.config, config),
		       metadata = iif(metadata = '', excluded.metadata, metadata),
		       event_count = max(event_count, excluded.event_count)`,
		id, group, n.str("status"), start, n.millis("end_timestamp"), config, version, metadata, count, s.file)
}

// eventTypes returns the types of events that clients know.
func eventTypes() []store.EventType {
	return []store.EventType{
		store.AgentMessage, store.AssistantProsody, store.ChatStart, store.ChatEnd, store.FunctionCall,
		store.FunctionCallResponse, store.PauseOnset, store.ResumeOnset, store.SessionSettings, store.SystemPrompt,
		store.UserInterruption, store.UserMessage, store.UserRecordingStart,
	}
}

// maxEventID bounds the id of an event, in bytes: four times a UUID.
const maxEventID = 144

func (s *stager) event(n *node, run int64, pos int) {
	id, chat, kind, at := n.str("id"), n.str("chat_id"), n.str("type"), n.millis("timestamp")
	why := ""
	switch {
	case badID(chat) != "":
		why = "the id of its chat is not a UUID"
	case id == "" || len(id) > maxEventID:
		why = "its id is empty or too long"
	case at == 0:
		why = "its timestamp is not a time"
	case !slices.Contains(eventTypes(), store.EventType(kind)):
		why = "its type " + contract.Clip(kind) + " is unknown"
	}
	if why != "" {
		s.left(kindEvent, id, why)
		return
	}
	texts := map[string]string{}
	for _, name := range []string{"emotion_features", "metadata"} {
		text, ok := n.jsonText(name)
		if !ok {
			s.report.mended(Line{Kind: kindEvent, ID: id, File: s.name(), Why: name + " is left out: it is not JSON"})
			text = ""
		}
		texts[name] = text
	}
	if v := n.get("message_text"); v != nil && v.cut {
		s.report.mended(Line{Kind: kindEvent, ID: id, File: s.name(), Why: "its text is left out: it is too long"})
	}
	e := store.Event{
		ID:              id,
		AtMS:            at,
		Type:            store.EventType(kind),
		Role:            roleOf(n),
		MessageText:     n.str("message_text"),
		EmotionFeatures: texts["emotion_features"],
		Metadata:        texts["metadata"],
		RelatedEventID:  n.str("related_event_id"),
	}
	if len(e.RelatedEventID) > maxEventID {
		e.RelatedEventID = ""
	}
	sum := sumOf(e)
	if s.write(`INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, chat, id, at, kind, e.Role,
		e.MessageText, e.EmotionFeatures, e.Metadata, e.RelatedEventID, sum, run, pos, s.file) > 0 || s.err != nil {
		return
	}
	same, err := s.spool.number(s.ctx, `SELECT count(*) FROM event WHERE chat = ? AND id = ? AND sum = ?`,
		chat, id, sum)
	if s.err = err; err == nil && same == 0 {
		s.report.differs(Line{Kind: kindEvent, ID: id, File: s.name(),
			Why: "another file has it with other content, and was read first"})
	}
}

// roleOf returns the role of an event; one without it has that of its type.
func roleOf(n *node) store.Role {
	role, all := store.Role(n.str("role")), []store.Role{store.User, store.Agent, store.System, store.Tool}
	if slices.Contains(all, role) {
		return role
	}
	switch store.EventType(n.str("type")) {
	case store.UserMessage, store.UserInterruption:
		return store.User
	case store.AgentMessage, store.AssistantProsody:
		return store.Agent
	case store.FunctionCall, store.FunctionCallResponse:
		return store.Tool
	}
	return store.System
}
