package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/appliance/contract"
	"parley/internal/progress"
)

// maxStdinText is up to how many bytes standard input may be a text; more is sent as a
// file.
const maxStdinText = contract.MaxBatchTextChars

// batchBody is the body of the request for a job: a JSON part and a part for each file.
// It is read only once, as it is sent.
type batchBody struct {
	io.Reader
	kind string // its Content-Type
	size int64  // bytes; -1 if unknown
}

// batchFile is a file to send.
type batchFile struct {
	name string
	size int64 // bytes; -1 if unknown
	text io.Reader
}

// body returns the body of the request that the flags describe; nil with --job. It opens
// no file, and finds files that cannot be sent before anything is sent.
func (cmd *batchCmd) body(c *console) (*batchBody, error) {
	if cmd.Job != "" {
		return nil, nil
	}
	asked := cmd.request()
	var files []batchFile
	for _, name := range cmd.Files {
		switch {
		case strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://"):
			asked.URLs = append(asked.URLs, name)
		case name == "-":
			text, file, err := readInput(c.in)
			if err != nil {
				return nil, err
			}
			if file != nil {
				files = append(files, *file)
			} else {
				asked.Text = append(slices.Clip(asked.Text), text)
			}
		default:
			file, err := onDisk(name)
			if err != nil {
				return nil, misuse{err}
			}
			files = append(files, file)
		}
	}
	if n := len(files) + len(asked.URLs) + len(asked.Text); n > contract.MaxBatchSources {
		return nil, misuse{fmt.Errorf("%d files, URLs and texts are too many for one job: name %d at most, or put "+
			"files into an archive", n, contract.MaxBatchSources)}
	}
	return newBatchBody(asked, files)
}

// readInput returns standard input: as a text if it is one, else as a file.
func readInput(in io.Reader) (text string, file *batchFile, err error) {
	begin, err := io.ReadAll(io.LimitReader(in, maxStdinText+1))
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("reading standard input: %w", err)
	case len(bytes.TrimSpace(begin)) == 0:
		return "", nil, misuse{errors.New("standard input is empty")}
	case len(begin) > maxStdinText:
		return "", &batchFile{"stdin", -1, io.MultiReader(bytes.NewReader(begin), in)}, nil
	case !utf8.Valid(begin):
		return "", &batchFile{"stdin", int64(len(begin)), bytes.NewReader(begin)}, nil
	}
	return string(begin), nil, nil
}

// onDisk returns a file of this machine, which is opened when it is sent.
func onDisk(path string) (batchFile, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return batchFile{}, err
	case info.IsDir():
		return batchFile{}, fmt.Errorf("%s is a folder: name the files in it", path)
	case !info.Mode().IsRegular():
		return batchFile{}, fmt.Errorf("%s is not a regular file: pipe it to parley batch -", path)
	}
	return batchFile{filepath.Base(path), info.Size(), &diskFile{path: path, left: info.Size()}}, nil
}

// newBatchBody returns the body with a request and files.
func newBatchBody(asked contract.PostedBatchJob, files []batchFile) (*batchBody, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	body := &batchBody{kind: w.FormDataContentType()}
	var parts []io.Reader
	framed := func() { // takes what w wrote
		body.size += int64(form.Len())
		parts = append(parts, bytes.NewReader(bytes.Clone(form.Bytes())))
		form.Reset()
	}
	text, err := json.Marshal(asked)
	if err == nil {
		err = w.WriteField("json", string(text))
	}
	known := true
	for _, f := range files {
		if err == nil {
			_, err = w.CreateFormFile("file", f.name)
		}
		framed()
		parts = append(parts, f.text)
		body.size += f.size
		known = known && f.size >= 0
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	framed()
	if !known {
		body.size = -1
	}
	body.Reader = io.MultiReader(parts...)
	return body, nil
}

// diskFile opens its file at the first Read, since a job may have more files than a
// process may open, and closes it at the end.
type diskFile struct {
	path string
	left int64 // bytes
	file *os.File
}

// Read reads as many bytes as the file had when the command began.
func (d *diskFile) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	if d.file == nil {
		var err error
		if d.file, err = os.Open(d.path); err != nil {
			return 0, err
		}
	}
	n, err := d.file.Read(p[:min(int64(len(p)), d.left)])
	if d.left -= int64(n); d.left == 0 {
		return n, d.file.Close()
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s became shorter while it was sent", d.path)
	}
	return n, err
}

// counted reports how much of a body is sent.
type counted struct {
	*batchBody
	sent int64
	show progress.Func
}

// Read reads on.
func (r *counted) Read(p []byte) (int, error) {
	n, err := r.batchBody.Read(p)
	r.sent += int64(n)
	r.show(progress.Event{Name: "upload", Step: progress.Sending, Done: r.sent, Total: r.size})
	return n, err
}
