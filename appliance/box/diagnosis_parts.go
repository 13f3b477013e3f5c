package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/config"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/onnx"
	"parley/appliance/engines"
	"parley/appliance/media"
	"parley/appliance/recording"
	"parley/appliance/voices"
	"parley/firmware/backup"
	"parley/firmware/doctor"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/store"
)

// examineDatabase checks the whole database. The error is only ctx's.
func examineDatabase(ctx context.Context, data string) (doctor.Finding, error) {
	f := doctor.Finding{Part: "database", Health: doctor.Problem}
	schema, err := store.Inspect(ctx, data)
	newest, newestErr := store.NewestSchema()
	switch {
	case ctx.Err() != nil:
		return f, context.Cause(ctx)
	case newestErr != nil:
		return f, newestErr
	case errors.Is(err, store.ErrNotFound):
		f.Health, f.What, f.Mend = doctor.Warning, "there is none", doctor.NoBox
		if found := GuessDataFolder(data); found != "" {
			f.Mend = "a box has its data in " + found + ": pass --data " + found
		}
	case errors.Is(err, store.ErrDamaged):
		f.What, f.Mend = err.Error(), fmt.Sprintf("stop the box, then: parley restore BACKUP --data %s --force", data)
	case errors.Is(err, store.ErrNewer):
		f.What, f.Mend = err.Error(), "install the newer Parley"
	case err != nil:
		f.What, f.Mend = err.Error(), "run this as the user that runs the box"
	case schema < newest:
		f.Health, f.What = doctor.OK,
			fmt.Sprintf("intact; the next start migrates its schema from %d to %d, and keeps a copy", schema, newest)
	default:
		f.Health, f.What = doctor.OK, fmt.Sprintf("intact, schema %d", schema)
	}
	return f, nil
}

// examineBackup checks how old the newest backup is.
func examineBackup(data string) doctor.Finding {
	made, ok, err := backup.Latest(data)
	switch {
	case err != nil:
		return doctor.Finding{
			Part:   "backup",
			Health: doctor.Warning,
			What:   err.Error(),
			Mend:   "delete that file, and make a backup: parley backup FILE",
		}
	case !ok:
		return doctor.Backup(time.Time{}, time.Now())
	}
	return doctor.Backup(time.UnixMilli(made.MadeMS), time.Now())
}

// examineRecordings checks all recordings. The error is only ctx's.
func examineRecordings(ctx context.Context, cfg config.Config, tell progress.Func) (doctor.Finding, error) {
	data := cfg.Data
	var files map[string]store.SoundFile
	limits, err := recordingRoom(cfg)
	if err != nil {
		return doctor.Finding{
			Part:   "recordings",
			Health: doctor.Problem,
			What:   err.Error(),
			Mend:   "run this as the user that runs the box",
		}, nil
	}
	sounds := doctor.RecordingsCheck{Folder: filepath.Join(data, layout.Recordings), Limits: limits}
	sounds.Expected = func(ctx context.Context) (due map[string]bool, err error) {
		if files, err = store.SoundFiles(ctx, data); errors.Is(err, store.ErrNotFound) {
			return nil, fs.ErrNotExist
		}
		due = make(map[string]bool, len(files))
		for name, f := range files {
			due[name] = f.Expected
		}
		return due, err
	}
	sounds.Check = func(name string, f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		sound, err := audio.NewOpusFile(f, info.Size())
		if err != nil {
			return err
		}
		err = sound.Check()
		if errors.Is(err, audio.ErrCutOff) && !files[name].Complete {
			return nil // a crash cut it off, or it is still being written
		}
		return err
	}
	return doctor.Recordings(ctx, sounds, tell)
}

// recordingRoom returns the limits of recordings, and from when on the box deletes
// those beyond them.
func recordingRoom(cfg config.Config) (room doctor.RecordingLimits, err error) {
	limits, err := RecordingLimits(cfg)
	if err != nil {
		return room, err
	}
	notice, err := recording.ReadNotice(cfg.Data)
	if errors.Is(err, fs.ErrNotExist) { // no box with limits has started yet
		err = nil
	}
	return doctor.RecordingLimits{
		Bytes:        limits.Bytes,
		Days:         limits.Days,
		DeletingFrom: notice.From,
		ToDelete:     notice.Recordings,
	}, err
}

// examineLibraries loads the libraries of the engines.
func examineLibraries(ctx context.Context, cfg config.Config) doctor.Finding {
	var broken []string
	say := func(err error) {
		if err != nil {
			broken = append(broken, err.Error())
		}
	}
	runtime, err := onnx.Open(filepath.Join(cfg.Pack("runtime-onnx"), "libonnxruntime.so"))
	if say(err); err == nil {
		say(runtime.Close())
	}
	var lacks []string
	phonemizer, err := espeak.Open()
	if say(err); err == nil {
		lacks = phonemizer.MissingSandbox()
		say(phonemizer.Close())
	}
	if slices.Contains(engines.Needs(cfg), "runtime-llama") {
		say(llama.Loads(cfg.Pack("runtime-llama"), slog.New(slog.DiscardHandler)))
	}
	if len(broken) > 0 {
		return doctor.Finding{
			Part:   "libraries",
			Health: doctor.Problem,
			What:   strings.Join(broken, "; "),
			Mend:   "run parley packs pull, and check with parley packs list --verify",
		}
	}
	return examineSystem(ctx, lacks)
}

// examineHearing reports which languages the box understands.
func examineHearing(cfg config.Config) doctor.Finding {
	f := doctor.Finding{Part: "hearing", Health: doctor.OK, What: "Whisper, in many languages"}
	if len(cfg.Engines.TranscriberServers) > 0 {
		f.What = "by servers: " + cfg.Engines.DescribeTranscriber() + "; the languages are theirs"
	} else if engines.TranscriberLanguages(cfg) != nil {
		f.What = "Moonshine, in English only; for other languages: " + voices.LanguageAdvice
	}
	if why := voices.LanguageProblem(cfg, ""); why != "" {
		f.Health, f.What, f.Mend = doctor.Warning, why, voices.LanguageAdvice
	}
	return f
}

// examineAnswers reports whether the box finds approved answers. A box whose configs have none works without the pack.
func examineAnswers(ctx context.Context, cfg config.Config) (doctor.Finding, error) {
	f := doctor.Finding{Part: "approved answers", Health: doctor.OK, What: "found by what questions mean, in English"}
	found, err := doctor.Packs(ctx, cfg.Packs, []string{engines.SentencesPack})
	if err != nil {
		return f, err
	}
	if f.Health = found[0].Health; f.Health != doctor.OK {
		f.Health, f.What, f.Mend = doctor.Warning, "none is found: the pack "+found[0].What, found[0].Mend
	}
	return f, nil
}

// examineSystem checks the optional libraries of the system. lacks names the kernel's
// means of isolation that eSpeak NG, the decoders and ffmpeg have to do without.
func examineSystem(ctx context.Context, lacks []string) doctor.Finding {
	pictures := func() error {
		if err := media.Check(ctx); err != nil {
			return fmt.Errorf("pictures, videos and sounds of batch jobs cannot be read: %w", err)
		}
		return nil
	}
	for _, library := range []struct {
		check  func() error
		debian string
	}{
		{audio.CheckOpus, "libopus0"},
		{audio.CheckMP3, "libmpg123-0"},
		{audio.CheckMP3Encoder, "libmp3lame0"},
		{audio.CheckAAC, "ffmpeg"},
		{pictures, "ffmpeg"},
		{clean.Check, "libspeexdsp1"},
	} {
		if err := library.check(); err != nil {
			return doctor.Finding{
				Part:   "libraries",
				Health: doctor.Warning,
				What:   err.Error(),
				Mend:   "apt-get install " + library.debian,
			}
		}
	}
	if len(lacks) > 0 {
		return doctor.Finding{
			Part:   "libraries",
			Health: doctor.Warning,
			What: "all of them load; this kernel cannot isolate eSpeak NG, the decoders and ffmpeg with " +
				strings.Join(lacks, ", nor with "),
			Mend: "use Linux 5.13 or later with Landlock enabled (lsm= on the kernel command line)",
		}
	}
	return doctor.Finding{Part: "libraries", Health: doctor.OK, What: "all of them load"}
}

// examineWebhooks counts the webhooks that wait and those that were given up. If the
// database cannot be read, another finding says why. The error is only ctx's.
func examineWebhooks(ctx context.Context, data string) ([]doctor.Finding, error) {
	s, err := store.Join(ctx, data)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	waiting, dead, err := s.WebhookCounts(ctx)
	newest, listErr := s.Webhooks(ctx, store.WebhookFilter{States: []store.WebhookState{store.WebhookWasAbandoned}}, 1)
	if errors.Join(err, listErr, s.Close()) != nil {
		return nil, context.Cause(ctx)
	}
	f := doctor.Finding{Part: "webhooks", Health: doctor.OK, What: fmt.Sprintf("%d wait", waiting)}
	if dead > 0 && len(newest) > 0 {
		f.Health, f.What = doctor.Warning,
			fmt.Sprintf("%d were given up in the last seven days; the newest: %s", dead, newest[0].LastError)
		f.Mend = "see parley webhooks --state dead; once the receiver is mended: parley webhooks --retry --all"
	}
	return []doctor.Finding{f}, nil
}
