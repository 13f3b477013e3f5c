// Package importer imports what people saved of the old service: the records that its
// interface returned, as JSON in files of any name and arrangement, and the recordings of
// chats. Ids, version numbers and times stay. Importing again changes nothing.
package importer

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/contract"
	"parley/appliance/media"
	"parley/internal/progress"
	"parley/store"
)

// Voices finds voices, and lets one stand in for another.
type Voices interface {
	// FindVoice returns the voice that speaks for a reference of an account; the error is a
	// contract.ErrNotFound if there is none.
	FindVoice(ctx context.Context, account string, ref contract.VoiceRef) (contract.ReturnVoice, error)
	SetAlias(ctx context.Context, name, voice string) (contract.ReturnVoiceAlias, error)
}

// Settings are the settings of the box that concern what is imported.
type Settings struct {
	KeepHistory    bool  // chats are stored
	KeepDays       int   // after the end of a chat until it is deleted; 0: never
	RecordingDays  int   // after the end of a chat until its recording is deleted; 0: never
	RecordingBytes int64 // of all recordings; 0: no limit
	AccountBytes   int64 // of all data of an account; 0: no limit
}

// Options say what to import, and where to.
type Options struct {
	From     string // a folder, a ZIP file, or one file
	Account  store.Account
	Store    *store.Store
	Voices   Voices
	StandIn  string // the voice that stands in for those that the box does not have
	Settings Settings
	// Answers names the model that answers for a config with a language model, and reports
	// whether a route leads to it: otherwise it is the default one.
	Answers  func(contract.LanguageModel) (model string, routed bool)
	Progress progress.Func
}

// An Import holds what was read. Close must be called at its end.
type Import struct {
	Options
	source *source
	spool  *spool
	files  []string // names
	sounds []int    // recordings, as indexes of files
	runs   int64    // lists so far
	report *Report  // counts what was read
}

// Read reads the files.
func Read(ctx context.Context, o Options) (_ *Import, err error) {
	im := &Import{Options: o, report: newReport()}
	im.report.From, im.report.Account = o.From, o.Account.Name
	defer func() {
		if err != nil {
			err = errors.Join(err, im.Close())
		}
	}()
	if im.source, err = openSource(o.From); err != nil {
		return im, err
	}
	if im.spool, err = newSpool(ctx); err != nil {
		return im, err
	}
	for _, l := range im.source.refuse {
		im.report.leftOut(l)
	}
	if n := im.source.noise; n > 0 {
		im.report.notef("%d files that operating systems add, such as .DS_Store, were skipped.", n)
	}
	if err := im.readAll(ctx); err != nil {
		return im, err
	}
	return im, im.arrange(ctx)
}

// Close removes what was read.
func (im *Import) Close() (err error) {
	if im.spool != nil {
		err = im.spool.close()
	}
	if im.source != nil {
		err = errors.Join(err, im.source.close())
	}
	return err
}

// readAll reads all files.
func (im *Import) readAll(ctx context.Context) error {
	tell := im.Progress.Serial()
	e := progress.Event{Name: "files", Step: progress.Reading}
	for _, f := range im.source.files {
		e.Total += f.size
	}
	for i, f := range im.source.files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		im.files = append(im.files, f.name)
		if isSound(f.name) {
			im.sounds = append(im.sounds, i)
			im.report.Files++
		} else if err := im.readFile(ctx, i); err != nil {
			return err
		}
		e.Done += f.size
		tell(e)
	}
	e.Step = progress.Done
	tell(e)
	return nil
}

// readFile reads the records of a file. What is wrong with the file is reported; an error
// is one of the spool.
func (im *Import) readFile(ctx context.Context, i int) error {
	f := im.source.files[i]
	left := func(why string) { im.report.leftOut(Line{Kind: kindFile, File: f.name, Why: why}) }
	r, err := f.open()
	if err != nil {
		left(err.Error())
		return nil
	}
	defer func() { _ = r.Close() }() // it was only read
	in := utf8Reader(r)
	if _, err := in.Peek(1); err != nil && f.size == 0 {
		left("it is empty")
		return nil
	}
	if !looksLikeJSON(in) {
		left("it is neither JSON nor a recording")
		return nil
	}
	im.report.Files++
	stage := &stager{Import: im, ctx: ctx, file: i}
	s := &scanner{in: in, found: stage.found, nextRun: func() int64 { im.runs++; return im.runs }}
	faults, err := s.values()
	if stage.err != nil || ctx.Err() != nil {
		return errors.Join(stage.err, context.Cause(ctx))
	}
	if faults > 0 {
		left(fmt.Sprintf("%v; %d faults; %d records of it could be read", err, faults, s.records))
	}
	if s.ansi {
		im.report.mended(Line{Kind: kindFile, File: f.name, Why: "it is not UTF-8, and was read as Windows-1252"})
	}
	switch {
	case s.strays > 0:
		left(fmt.Sprintf("%d entries are no records that the box knows, such as one with the fields %s",
			s.strays, s.stray))
	case s.records == 0 && faults == 0 && !stage.page:
		left("it holds no record of the old service")
	}
	return nil
}

// arrange completes what the files say: the order of events, and chats of which only the
// events were saved.
func (im *Import) arrange(ctx context.Context) error {
	// A list is in the order of time or against it: a page says so, else its times do, else
	// those of the other lists of the chat. Lists follow each other by their times.
	_, err := im.spool.run(ctx, `
		CREATE TABLE run AS
		WITH one AS (
		     SELECT run, chat, min(at) AS begin, max(at) AS end,
		            coalesce(sum((at > before) - (at < before)), 0) AS rises
		       FROM (SELECT run, chat, at, lag(at) OVER (PARTITION BY run, chat ORDER BY pos) AS before FROM event)
		      GROUP BY run, chat)
		SELECT run, chat, begin, end, coalesce((SELECT direction FROM run_page WHERE run_page.run = one.run),
		       nullif(sign(rises), 0), nullif(sign(sum(rises) OVER (PARTITION BY chat)), 0), 1) AS direction
		  FROM one`)
	for _, index := range []string{
		`CREATE UNIQUE INDEX run_chat ON run (chat, run)`, `CREATE INDEX chat_start ON chat (start, id)`,
		`CREATE INDEX chat_grp ON chat (grp)`, `CREATE INDEX audio_filename ON audio (filename)`,
	} {
		if err == nil {
			_, err = im.spool.run(ctx, index)
		}
	}
	if err != nil {
		return err
	}
	type orphan struct {
		id, group  string
		start, end int64
		file       int
	}
	columns := func(o *orphan) []any { return []any{&o.id, &o.group, &o.start, &o.end, &o.file} }
	orphans, err := rows(ctx, im.spool, columns, `
		SELECT e.chat, coalesce(max(g.grp), ''), min(e.at), max(e.at), min(e.file)
		  FROM event e LEFT JOIN run_page g ON g.run = e.run
		 WHERE NOT EXISTS (SELECT 1 FROM chat WHERE chat.id = e.chat) GROUP BY e.chat`)
	if err != nil {
		return err
	}
	for _, o := range orphans {
		if o.group == "" {
			o.group = contract.DerivedID(o.id)
		}
		_, err := im.spool.run(ctx, `INSERT INTO chat VALUES (?, ?, ?, ?, ?, '', 0, '', 0, ?)`,
			o.id, o.group, store.UserEnded, o.start, o.end, o.file)
		if err != nil {
			return err
		}
		im.report.mended(Line{Kind: kindChat, ID: o.id, File: im.files[o.file],
			Why: "its record was not saved: it begins and ends with its first and last saved event"})
	}
	return nil
}

// Run imports what was read or, without apply, only says what it would do. It may be
// interrupted at any time, and run again.
func (im *Import) Run(ctx context.Context, apply bool) (*Report, error) {
	w := &work{Import: im, apply: apply, report: im.report.clone(), seen: map[string]bool{}}
	w.report.DryRun = !apply
	for _, step := range []func(context.Context) error{
		w.voices, w.prompts, w.tools, w.configs, w.chats, w.groups, w.recordings, w.limits,
	} {
		if err := step(ctx); err != nil {
			return w.report, err
		}
	}
	for _, c := range w.report.Counts {
		c.Found = c.New + c.Here + c.Differs + c.LeftOut
	}
	return w.report, nil
}

// work is one run of an import.
type work struct {
	*Import
	apply  bool
	report *Report
	models map[contract.LanguageModelRef]int // versions of configs that name each
	seen   map[string]bool                   // groups, and whether they may have more chats
	media  media.Reader
	wrote  func() // called after each transaction; nil: nothing
	// What the settings will delete, of what is new.
	expiring, expiringSounds int
}
