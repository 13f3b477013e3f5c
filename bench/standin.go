package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	standInModel = "stand-in"
	// standInStop is how long its last requests may take to end.
	standInStop = 2 * time.Second
)

// standIn is a server with the OpenAI API, as far as a box uses it, which answers
// everything with the same two sentences, at once.
type standIn struct {
	address string
	server  *http.Server
	served  chan error
}

// standInAnswer is spoken in about five seconds, as long as answers are.
const standInAnswer = "Breakfast is served from seven until half past ten in the garden room. Shall I keep a table " +
	"for you by the window?"

func startStandIn() (*standIn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the stand-in for a language model: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", standInReply)
	s := &standIn{
		address: "http://" + l.Addr().String() + "/v1",
		server:  &http.Server{Handler: mux, ReadHeaderTimeout: standInStop}, served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(l) }()
	return s, nil
}

// standInReply streams the answer word by word.
func standInReply(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	type delta struct {
		Content string `json:"content"`
	}
	type choice struct {
		Index  int     `json:"index"`
		Delta  delta   `json:"delta"`
		Finish *string `json:"finish_reason"`
	}
	say := func(c choice) {
		data, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "model": standInModel,
			"choices": []choice{c}})
		if err == nil {
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
	for word := range strings.SplitAfterSeq(standInAnswer, " ") {
		say(choice{Delta: delta{word}})
	}
	stop := "stop"
	say(choice{Finish: &stop})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (s *standIn) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), standInStop)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close()
	}
	if err := <-s.served; err != http.ErrServerClosed {
		return err
	}
	return nil
}
