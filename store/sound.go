package store

import "context"

// soundWrittenMS is how long a chat must go on after the first sound of a side until that
// side's file certainly exists, however the chat ended: a recorder buffers two seconds at
// most, and half a second for a page.
const soundWrittenMS = 3000

// SoundFile is what the history says about the file of one side of a chat.
type SoundFile struct {
	Expected bool // the file must exist: that side made a sound
	Complete bool // the file, if it exists, has its proper end: nothing interrupted its chat
}

// SoundFiles returns the recording files that belong to chats, by name. It does not
// change the database in the data folder dir. The error is ErrNotFound if there is no
// database with this Parley's schema.
func SoundFiles(ctx context.Context, dir string) (map[string]SoundFile, error) {
	const doing = "reading what was recorded"
	if err := holdsDatabase(dir); err != nil {
		return nil, err
	}
	target, err := NewestSchema()
	if err != nil {
		return nil, err
	}
	db := connect(dir, readPragmas, 1)
	defer db.Close()
	switch schema, err := version(ctx, db); {
	case err != nil:
		return nil, explain(doing, err)
	case schema != target:
		return nil, explain(doing, ErrNotFound)
	}
	type row struct {
		chat            string
		whole           bool
		user, assistant bool
	}
	// The history has "…" for an answer of which the user heard nothing.
	rows, err := query(ctx, db, func(s scanner) (r row, err error) {
		return r, s.Scan(&r.chat, &r.whole, &r.user, &r.assistant)
	}, `
		SELECT c.id, r.status = 'COMPLETE' AND c.status <> 'ERROR',
		       r.status = 'COMPLETE' AND EXISTS (SELECT 1 FROM chat_event e
		        WHERE e.chat = c.num AND e.type = 'USER_RECORDING_START_MESSAGE' AND e.at_ms + ?1 <= c.ended_ms),
		       r.status = 'COMPLETE' AND EXISTS (SELECT 1 FROM chat_event e
		        WHERE e.chat = c.num AND e.type = 'AGENT_MESSAGE' AND e.message_text <> '…' AND e.at_ms + ?1 <=
		  c.ended_ms)
		  FROM recording r JOIN chat c ON c.num = r.chat`, soundWrittenMS)
	if err != nil {
		return nil, explain(doing, err)
	}
	files := make(map[string]SoundFile, 2*len(rows))
	for _, r := range rows {
		files[recordingName(r.chat, UserSide)] = SoundFile{Expected: r.user, Complete: r.whole}
		files[recordingName(r.chat, AssistantSide)] = SoundFile{Expected: r.assistant, Complete: r.whole}
	}
	return files, nil
}
