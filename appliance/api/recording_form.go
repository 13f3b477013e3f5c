package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"parley/appliance/contract"
)

const (
	// maxParts bounds the parts of a form, and maxPartBytes all of them but the
	// recording; the context is the longest.
	maxParts     = 64
	maxPartBytes = 1 << 20
)

// recordingForm is a parsed form with a recording.
type recordingForm struct {
	field     string   // the name of the part with the recording
	recording *os.File // an unnamed file
	parts     map[string][][]byte
}

func (f *recordingForm) close() {
	if f.recording != nil {
		_ = f.recording.Close() // the file is deleted in any case
	}
}

// readRecordingForm parses a form part by part. It writes the recording to a file,
// because the recording may be large and arrive slowly.
func readRecordingForm(r *http.Request, field string) (*recordingForm, error) {
	kind := r.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, contract.ErrMediaType{Got: kind, Allowed: "multipart/form-data with its boundary, as HTTP " +
			"clients write it themselves, and with the recording in its part " + field}
	}
	form := &recordingForm{field: field, parts: map[string][][]byte{}}
	parts := multipart.NewReader(r.Body, params["boundary"])
	left := int64(maxPartBytes)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n == maxParts {
			err = contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("more than %d parts", maxParts)}
		}
		if err == nil {
			err = form.addPart(part, &left)
		}
		if err != nil {
			form.close()
			return nil, formError(err)
		}
	}
	if form.recording == nil {
		return nil,
			contract.ErrMalformed{Detail: []contract.ValidationError{
				{Loc: []any{"body", field}, Type: "missing", Msg: "missing; it is the recording, a file"}}}
	}
	return form, nil
}

// addPart stores a part other than the recording; left is how many bytes the
// parts may still have.
func (f *recordingForm) addPart(part *multipart.Part, left *int64) error {
	name, _, _ := strings.Cut(part.FormName(), "[") // include_timestamp_types[0]
	if name == f.field {
		return f.saveRecording(part)
	}
	text, err := io.ReadAll(io.LimitReader(part, *left+1))
	if err != nil {
		return err
	}
	if *left -= int64(len(text)); *left < 0 {
		return contract.ErrInvalid{Field: contract.Clip(name),
			Why: fmt.Sprintf("the parts besides the recording have more than %d bytes", maxPartBytes)}
	}
	f.parts[name] = append(f.parts[name], text)
	return nil
}

// saveRecording writes the recording to a file. An empty part, or one that is
// null, counts as absent.
func (f *recordingForm) saveRecording(part *multipart.Part) error {
	if f.recording != nil {
		return contract.ErrInvalid{Field: f.field, Why: "comes twice; expected one recording"}
	}
	file, err := os.CreateTemp("", "parley-recording-")
	if err != nil {
		return err
	}
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	begin := make([]byte, len("null")+1)
	n, err := io.ReadFull(part, begin)
	if short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); short && part.FileName() == "" &&
		(n == 0 || string(begin[:n]) == "null") {
		return file.Close()
	} else if err != nil && !short {
		return errors.Join(err, file.Close())
	}
	f.recording = file
	if _, err := file.Write(begin[:n]); err != nil {
		return err
	}
	_, err = io.Copy(file, part)
	return err
}

// formError returns the error for a form that cannot be parsed to its end.
func formError(err error) error {
	if k, public := kindOf(err); public != nil && k.status != 0 {
		return err
	}
	if _, path := errors.AsType[*os.PathError](err); path {
		return err
	}
	return contract.ErrInvalid{Field: "body", Why: "it is cut off, or is not valid multipart/form-data"}
}
