package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/contract"
	"parley/internal/limit"
)

// BatchUpload is a job whose files are being uploaded.
type BatchUpload interface {
	// Add stores a file of the job. An error of content is returned as it is.
	Add(ctx context.Context, name, contentType string, content io.Reader) error
	// Submit puts the job into the queue.
	Submit(ctx context.Context, p contract.PostedBatchJob) (jobID string, err error)
	// Discard deletes what was added. After Submit it does nothing.
	Discard()
}

const (
	// maxFilenameBytes is what file systems allow for a name, and maxTypeBytes far more
	// than any media type has.
	maxFilenameBytes, maxTypeBytes = 255, 255
	// maxBatchUploads bounds the forms that are being received, and
	// batchUploadsPerAccount those of one account: each may write as fast as the disk
	// does.
	maxBatchUploads, batchUploadsPerAccount = 16, 6
	// batchUploadWait is how long a form waits for others: small ones take
	// milliseconds each.
	batchUploadWait = 10 * time.Second
	// maxBatchRest bounds what is received of a form after an error: a minute at the
	// 10 Mbit/s of a slow line.
	maxBatchRest = 64 << 20
)

func newBatchUploads() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive: maxBatchUploads,
		MaxPerKey: batchUploadsPerAccount,
		MaxWait:   batchUploadWait,
	})
}

// startBatchJob receives a job and its files, and puts it into the queue.
func (a *API) startBatchJob(w http.ResponseWriter, r *http.Request, by caller) error {
	upload := a.Batch.NewUpload(by.AccountID)
	defer upload.Discard()
	form := batchForm{ctx: r.Context(), upload: upload}
	var err error
	if kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		leave, full := a.batchUploads.Acquire(r.Context(), by.AccountID)
		if full != nil {
			return contract.ErrTooMany{What: "too many jobs are being uploaded", RetryAfter: uploadRetry}
		}
		defer leave()
		err = form.read(multipart.NewReader(r.Body, params["boundary"]))
	} else {
		err = form.readJSON(w, r)
	}
	if err != nil {
		// Most clients read the answer only when they have sent the whole body.
		_, _ = io.CopyN(io.Discard, r.Body, maxBatchRest)
		return uploadError(err)
	}
	id, err := upload.Submit(r.Context(), form.posted)
	return a.result(w, http.StatusOK, contract.JobID{JobID: id}, err)
}

// uploadError returns the error for a body that cannot be received to its end.
func uploadError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return contract.ErrFull{What: "the disk of the box is full", RetryAfter: diskRetry}
	}
	return formError(err)
}

// batchForm is a request for a job: JSON, or a form with JSON and files in any order.
type batchForm struct {
	ctx     context.Context // of the request
	upload  BatchUpload
	posted  contract.PostedBatchJob
	hasJSON bool
	files   int
}

// readJSON parses a body that is JSON.
func (f *batchForm) readJSON(w http.ResponseWriter, r *http.Request) (err error) {
	if kind := r.Header.Get("Content-Type"); kind != "" && !isJSON(kind) {
		return contract.ErrMediaType{Got: kind, Allowed: "application/json, or files as multipart/form-data"}
	}
	if r.ContentLength > jsonBody {
		return contract.ErrTooLarge{Limit: jsonBody}
	}
	r.Body = http.MaxBytesReader(underlying(w), r.Body, jsonBody)
	f.posted, err = decode(r, contract.ParsePostedBatchJob)
	return err
}

// read receives the parts of a form. JSON that is not valid ends it before the files
// after it are received.
func (f *batchForm) read(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.add(part)
		}
		if err != nil {
			return err
		}
	}
	if f.hasJSON {
		return nil
	}
	var err error
	f.posted, err = contract.ParsePostedBatchJob(nil)
	return err
}

// add receives a part.
func (f *batchForm) add(part *multipart.Part) error {
	name, _, _ := strings.Cut(part.FormName(), "[") // file[], file[0]
	switch {
	case name == "json":
		return f.addJSON(part)
	case name == "file" || name == "files":
		return f.addFile(part)
	case part.FileName() != "":
		return contract.ErrInvalid{Field: contract.Clip(part.FormName()),
			Why: "no part of this name may hold a file; the parts of files are named file"}
	}
	return nil
}

func (f *batchForm) addJSON(part *multipart.Part) (err error) {
	if f.hasJSON {
		return contract.ErrInvalid{Field: "json", Why: "comes twice; expected one part json"}
	}
	f.hasJSON = true
	text, err := io.ReadAll(io.LimitReader(part, jsonBody+1))
	if err != nil {
		return err
	}
	if len(text) > jsonBody {
		return contract.ErrInvalid{Field: "json", Why: fmt.Sprintf("it has more than %d bytes", jsonBody)}
	}
	f.posted, err = contract.ParsePostedBatchJob(text)
	return err
}

// addFile stores a file. A part without a name and without content is what browsers send
// when no file was chosen.
func (f *batchForm) addFile(part *multipart.Part) error {
	content := bufio.NewReader(part)
	name := filename(part.FileName())
	if name == "" {
		if _, err := content.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		name = fmt.Sprintf("file_%d", f.files)
	}
	f.files++
	kind := part.Header.Get("Content-Type")
	return f.upload.Add(f.ctx, name, strings.ToValidUTF8(kind[:min(len(kind), maxTypeBytes)], ""), content)
}

// filename returns the last element of a client's path, of which Windows separates the
// elements with backslashes, without what cannot be shown. It is empty if nothing is left.
func filename(given string) string {
	name := path.Base(strings.ReplaceAll(given, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if name = strings.TrimSpace(name); name == "." || name == ".." || name == "/" {
		return ""
	}
	if len(name) > maxFilenameBytes { // the end tells the kind of the file
		name = name[len(name)-maxFilenameBytes:]
		for name != "" && !utf8.RuneStart(name[0]) {
			name = name[1:]
		}
	}
	return name
}
