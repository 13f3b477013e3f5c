package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"parley/appliance/audio"
)

// maxRecordingBytes bounds a recording, which is decoded in memory: an hour and a half of
// studio quality (48 kHz, 16 bit, stereo).
const maxRecordingBytes = 1 << 30

// recording reads a file, or standard input for -, and decodes it to mono at the given
// rate, with ffmpeg if our decoders do not support the format.
func (c *console) recording(ctx context.Context, name string, rateHz int) ([]float32, error) {
	data, err := c.recordingBytes(name)
	if err != nil {
		return nil, err
	}
	pcm, err := audio.DecodeAll(data, rateHz)
	if err == nil {
		return pcm, nil
	}
	if _, tooLong := errors.AsType[*audio.ErrTooLong](err); tooLong {
		return nil, misuse{fmt.Errorf("%s: %w", name, err)}
	}
	// ffmpeg would fail too, and runs without a sandbox; big-endian samples it reads as
	// silence.
	if errors.Is(err, audio.ErrUndecodable) || errors.Is(err, audio.ErrBigEndian) {
		return nil, misuse{fmt.Errorf("%s: %w", name, err)}
	}
	program, missing := exec.LookPath("ffmpeg")
	if missing != nil {
		return nil, misuse{unreadable(name, err)}
	}
	from := name
	if c.opened != nil { // this user may not be able to read it
		from = "-"
	}
	converted, failed := convert(ctx, program, from, data, rateHz)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if failed != nil {
		return nil, misuse{fmt.Errorf("%s: %w; ffmpeg cannot read it either: %w", name, err, failed)}
	}
	if pcm, err = audio.DecodeAll(converted, rateHz); err != nil {
		return nil, fmt.Errorf("%s, through ffmpeg: %w", name, err)
	}
	if len(pcm) == 0 {
		return nil, misuse{fmt.Errorf("%s: ffmpeg finds no sound in it", name)}
	}
	return pcm, nil
}

func (c *console) recordingBytes(name string) ([]byte, error) {
	in := c.in
	if name == "" {
		return nil, misuse{errors.New("the name of the recording is empty: name a file, or - for standard input")}
	}
	if name != "-" {
		f := c.opened
		if f == nil {
			var err error
			if f, err = os.Open(name); err != nil {
				return nil, misuse{err}
			}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, misuse{fmt.Errorf("%s is a folder: name a recording in it", name)}
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRecordingBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRecordingBytes {
		return nil, misuse{fmt.Errorf("%s has more than %d bytes: split it", name, maxRecordingBytes)}
	}
	if len(data) == 0 {
		return nil, misuse{errors.New(name + " is empty: give a WAV, MP3, M4A, FLAC, Ogg/Opus or WebM/Opus recording")}
	}
	return data, nil
}

// unreadable returns the error for a file with an unsupported format, with advice.
func unreadable(name string, err error) error {
	format, known := errors.AsType[*audio.ErrFormat](err)
	from, to := "recording", "recording.wav"
	if name != "-" {
		from, to = name, strings.TrimSuffix(name, filepath.Ext(name))+".wav"
		if to == from { // an unsupported kind of WAV file
			to = strings.TrimSuffix(name, ".wav") + "-16bit.wav"
		}
	}
	why := err.Error()
	switch {
	case known && format.Name == "":
		return fmt.Errorf("%s has an unknown format: it begins with % x. Supported are WAV, MP3, MP4 with AAC, FLAC, "+
			"Ogg/Opus and WebM/Opus, and others with ffmpeg, which is not installed (apt-get install ffmpeg)",
			name, format.Head)
	case known:
		why = "it is " + format.What + ", which is not supported"
	}
	return fmt.Errorf(
		"%s: %s. Install ffmpeg (apt-get install ffmpeg) and try again, or convert it elsewhere: ffmpeg -i %s %s", name,
		why, shellWord(from), shellWord(to))
}

// shellWord quotes a name for a shell.
func shellWord(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("./_-+,:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') &&
			(r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// convert has ffmpeg convert a recording to WAV. ffmpeg reads the file itself, since some
// formats must be seekable; standard input is copied to a file. It opens no other file.
func convert(ctx context.Context, program, name string, data []byte, rateHz int) (wav []byte, err error) {
	if name == "-" {
		f, err := os.CreateTemp("", "parley-recording-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		name = f.Name()
	}
	cmd := exec.CommandContext(ctx, program, "-nostdin", "-hide_banner", "-loglevel",
		"error", "-protocol_whitelist",
		"file,pipe",
		"-i", "file:"+name, "-map", "0:a:0", "-ac", "1", "-ar", strconv.Itoa(rateHz), "-c:a", "pcm_s16le", "-f", "wav",
		"pipe:1")
	var out, said bytes.Buffer
	cmd.Stderr = &said
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	n, copied := io.Copy(&out, io.LimitReader(pipe, maxRecordingBytes+1))
	if n > maxRecordingBytes {
		_ = cmd.Process.Kill() // Wait says so
	}
	if err := errors.Join(copied, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLineOf(said.String()))
	}
	return out.Bytes(), nil
}

func lastLineOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
