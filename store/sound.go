package store

import "context"

// soundWrittenMS is how much of a chat, in milliseconds, comes after the first
// sound of a side before its file is sure to be there, however the chat ended: a
// recorder keeps back two seconds at most, and half a second for a page.
const soundWrittenMS = 3000

// SoundFile is what the history says of the file that holds one side of a chat.
type SoundFile struct {
	Expected bool // it should be there: something was heard of that side
	Complete bool // if it is there it ends as it should: nothing cut its chat off
}

// SoundFiles returns what the history says of the files of the recordings folder,
// by their names; other files are nobody's. The database in the data folder dir
// stays as it is. ErrNotFound: there is none of this Parley's schema.
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
	// Of an answer that nobody heard a word of the history has a "…".
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
