// Package parley is for tools that a Parley box runs. A tool is a function that gets
// the parameters of a call and returns the answer for the assistant:
//
//	func main() {
//		parley.Serve(parley.Tools{"opening_hours": parley.Take(openingHours)})
//	}
//
// Standard error is the plugin's log; package log writes there.
package parley

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"
)

// Tool answers one call. parameters is a JSON object. The content is a text or JSON for
// the assistant; an error is reported to the assistant.
type Tool func(parameters []byte) (content string, err error)

// Tools are the tools of a plugin, by the names in its manifest.
type Tools map[string]Tool

// Take makes a tool from a function whose parameter is a struct with json tags.
func Take[P any](f func(P) (string, error)) Tool {
	return func(parameters []byte) (string, error) {
		var p P
		if err := json.Unmarshal(parameters, &p); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				return "", fmt.Errorf("%s is a %s; it has to be a %s", wrong.Field, wrong.Value, wrong.Type)
			}
			return "", fmt.Errorf("the parameters are not JSON: %w", err)
		}
		return f(p)
	}
}

// Serve answers the call that the program was started for, and exits on an error.
func Serve(tools Tools) {
	log.SetFlags(0)
	content, err := answer(tools, os.Args[1:], os.Stdin)
	if err == nil {
		_, err = io.WriteString(os.Stdout, content)
	}
	if err != nil {
		// The last line of standard error is the message: it has to be one line.
		fmt.Fprintln(os.Stderr, strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

func answer(tools Tools, args []string, stdin io.Reader) (content string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if len(args) == 0 {
		return "", errors.New("no tool was named as the first argument")
	}
	tool, ok := tools[args[0]]
	if !ok {
		return "", fmt.Errorf("there is no tool %q", args[0])
	}
	parameters, err := io.ReadAll(stdin)
	if err != nil {
		return "", err
	}
	return tool(parameters)
}

// Setting returns a setting of the plugin, by its name in the manifest. It is empty if
// the setting has neither a value nor a default.
func Setting(name string) string { return os.Getenv("SETTING_" + strings.ToUpper(name)) }

// Now returns the time of the call in the time zone of the box, to the second.
func Now() time.Time {
	t, err := time.Parse(time.RFC3339, os.Getenv("PARLEY_TIME"))
	if err != nil {
		return time.Now()
	}
	return t
}

// Caller returns an opaque id of the caller, which is the same in the caller's next
// chat. It is empty if the caller is unknown.
func Caller() string { return os.Getenv("PARLEY_CALLER") }

// Request is an HTTP request to a host that the plugin was granted.
type Request struct {
	Method  string            `json:"method"` // empty means GET
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    []byte            `json:"-"`
}

// Response is the response of a host, with any status.
type Response struct {
	Status int
	Body   []byte
}

// Fetch makes an HTTP request. An error means that there is no response: the request was
// not granted, or the host did not answer.
func Fetch(r Request) (Response, error) {
	if r.Method == "" {
		r.Method = "GET"
	}
	request, err := json.Marshal(r)
	if err != nil {
		return Response{}, err
	}
	status, body, err := fetch(request, r.Body)
	return Response{status, body}, err
}

// Load returns the value of a key; ok is false if there is none. Load, Store and Delete
// need the permission storage.
func Load(key string) (value []byte, ok bool, err error) { return load(key) }

// Store stores a value under a key. Only this plugin can read it.
func Store(key string, value []byte) error { return store(key, value) }

// Delete deletes a key.
func Delete(key string) error { return remove(key) }

// Keys returns the keys that begin with prefix, in order, at most a thousand.
func Keys(prefix string) ([]string, error) {
	text, err := keys(prefix)
	if err != nil {
		return nil, err
	}
	var all []string
	return all, json.Unmarshal(text, &all)
}

// Message is a message of the conversation.
type Message struct {
	Role       string             `json:"role"` // user, assistant or tool
	Content    string             `json:"content"`
	Expression map[string]float64 `json:"expression,omitempty"` // if that was granted
}

// Conversation returns the messages so far, oldest first. It needs the permission
// conversation.
func Conversation() ([]Message, error) {
	text, err := conversation()
	if err != nil {
		return nil, err
	}
	var c struct{ Messages []Message }
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("the conversation: %w", err)
	}
	return c.Messages, nil
}
