package main

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"parley/appliance/contract"
)

// show prints the results of a job that has ended, and writes its artifacts.
func (cmd *batchCmd) show(ctx context.Context, c *console, box *batchBox, job contract.BatchJob) error {
	if job.State.Status == contract.JobFailed {
		why := "the box does not say why"
		if job.State.Message != nil {
			why = *job.State.Message
		}
		return fmt.Errorf("job %s failed: %s", job.JobID, why)
	}
	response, err := box.get(ctx, "/"+url.PathEscape(job.JobID)+"/predictions")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if cmd.JSON {
		body = io.TeeReader(body, c.out)
	}
	t := newBatchTable(job)
	err = eachResult(body, func(r contract.SourceResult) { t.add(c, r) })
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("job %s: reading its predictions: %w", job.JobID, err)
	case cmd.JSON:
		_, err = fmt.Fprintln(c.out)
	case len(t.rows) > 1:
		err = c.table(t.rows...)
	}
	if err == nil && cmd.Out != "" {
		err = box.writeArtifacts(ctx, job.JobID, cmd.Out)
	}
	if err == nil && t.failed > 0 && t.analysed == 0 {
		err = errors.New("nothing could be analysed: see above")
	}
	return err
}

// eachResult calls take with each element of a JSON array of results, to its end.
func eachResult(body io.Reader, take func(contract.SourceResult)) error {
	d := json.NewDecoder(body)
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		var r contract.SourceResult
		if err := d.Decode(&r); err != nil {
			return err
		}
		take(r)
	}
	_, err := d.Token()
	return err
}

// sourceName returns the name of a source for people.
func sourceName(s contract.BatchSource) string {
	return cmp.Or(s.URL, s.File.Filename, string(s.Type))
}

// writeArtifacts writes the files of a job's artifacts to a folder.
func (b *batchBox) writeArtifacts(ctx context.Context, id, dir string) (err error) {
	response, err := b.get(ctx, "/"+url.PathEscape(id)+"/artifacts")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	archive, size, err := download(response)
	if err != nil {
		return fmt.Errorf("fetching the artifacts: %w", err)
	}
	defer archive.Close()
	all, err := zip.NewReader(archive, size)
	if err != nil {
		return fmt.Errorf("the artifacts of the box: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // which no name in the archive leaves
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, f := range all.File {
		if err := extract(root, f); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
	}
	return nil
}

// download returns an unnamed temporary file with the body of a response, and its size.
func download(r *http.Response) (*os.File, int64, error) {
	f, err := os.CreateTemp("", "parley-artifacts-")
	if err != nil {
		return nil, 0, err
	}
	size, err := io.Copy(f, r.Body)
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// extract writes a file of an archive.
func extract(root *os.Root, f *zip.File) error {
	if strings.HasSuffix(f.Name, "/") {
		return root.MkdirAll(path.Clean(f.Name), 0o777)
	}
	if err := root.MkdirAll(path.Dir(f.Name), 0o777); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	out, err := root.Create(f.Name)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	return errors.Join(err, in.Close())
}
