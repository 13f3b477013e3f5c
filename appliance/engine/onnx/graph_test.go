package onnx

import (
	"bytes"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestTrimmedGraphHasOneOutputAndFewerRows(t *testing.T) {
	table := appendBytes([]byte{tensorDims << 3, 4, tensorDims << 3, 2}, tensorName, []byte("table"))
	table = appendBytes(table, tensorRawData, []byte("aabbccdd"))
	var graph []byte
	graph = appendBytes(graph, 1, []byte("a node"))
	graph = appendBytes(graph, graphInitializer, table)
	graph = appendBytes(graph, graphInitializer, appendBytes(nil, tensorName, []byte("another")))
	graph = appendBytes(graph, graphOutput, appendBytes(nil, valueName, []byte("kept")))
	graph = appendBytes(graph, graphOutput, appendBytes(nil, valueName, []byte("dropped")))
	graph = appendBytes(graph, graphValueInfo, []byte{})
	model := appendBytes([]byte{1 << 3, 8}, modelGraph, graph)

	cut := appendBytes([]byte{tensorDims << 3, 3, tensorDims << 3, 2}, tensorName, []byte("table"))
	cut = appendBytes(cut, tensorRawData, []byte("aabbcc"))
	var want []byte
	want = appendBytes(want, 1, []byte("a node"))
	want = appendBytes(want, graphInitializer, cut)
	want = appendBytes(want, graphInitializer, appendBytes(nil, tensorName, []byte("another")))
	want = appendBytes(want, graphOutput, appendBytes(nil, valueName, []byte("kept")))
	want = appendBytes([]byte{1 << 3, 8}, modelGraph, want)

	got, err := trimGraph(model, "kept", "table", 3)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q and %v, want %q", got, err, want)
	}
	for _, c := range []struct {
		output, table string
		rows          uint64
	}{{"none", "table", 3}, {"kept", "none", 3}, {"kept", "table", 5}} {
		if _, err := trimGraph(model, c.output, c.table, c.rows); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	for n := 1; n < len(model); n++ { // a file truncated anywhere
		if _, err := trimGraph(model[:n], "kept", "table", 3); err == nil {
			t.Errorf("the first %d of %d bytes: no error", n, len(model))
		}
	}
}

func TestBrokenGraphIsAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "bytes")
		for _, model := range [][]byte{b, appendBytes(nil, modelGraph, b)} {
			if _, err := trimGraph(model, "kept", "table", 3); err == nil && bytes.Contains(model, []byte("kept")) {
				t.Fatal("made something of noise")
			}
		}
	})
}

func TestBrokenModelFilesNameTheCommandThatMends(t *testing.T) {
	rt := openRuntime(t)
	noise := t.TempDir() + "/noise.onnx"
	if err := os.WriteFile(noise, []byte("this is no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := rt.Load(noise, SessionOptions{})
	wantError(t, err, noise, "parley packs list --verify")
	_, err = rt.LoadBytes("noise", nil, SessionOptions{})
	wantError(t, err, "noise", "parley packs list --verify")
	_, err = rt.Load(noise+".gone", SessionOptions{})
	wantError(t, err, noise+".gone", "parley packs pull")
	_, err = LoadMoonshine(rt, t.TempDir(), nil)
	wantError(t, err, "tokenizer.bin", "parley packs pull")
	_, err = LoadWhisper(rt, t.TempDir(), nil)
	wantError(t, err, "encoder_model_quantized.onnx", "parley packs pull")
}
