package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// apiClient is a minimal HTTP client, so that the server is measured and not the client:
// one connection, requests formatted as text, and responses of which it only parses
// status and length.
type apiClient struct {
	net.Conn
	answers *bufio.Reader
	key     string
	request []byte
}

func dialAPI(address, key string) (*apiClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &apiClient{Conn: conn, answers: bufio.NewReaderSize(conn, 64<<10), key: key}, nil
}

// ask sends a request. It fails if the status is not 200 or 201, or the response has no
// length.
func (c *apiClient) ask(method, path, body string) error {
	c.request = fmt.Appendf(c.request[:0], "%s %s HTTP/1.1\r\nHost: box\r\nX-Service-Api-Key: %s\r\n", method, path,
		c.key)
	if body != "" {
		c.request = fmt.Appendf(c.request, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.request = append(append(c.request, "\r\n"...), body...)
	if _, err := c.Write(c.request); err != nil {
		return err
	}
	return c.answered(method, path)
}

// answered reads a response and skips its body.
func (c *apiClient) answered(method, path string) error {
	first, err := c.answers.ReadString('\n')
	if err != nil {
		return err
	}
	length := -1
	for {
		line, err := c.answers.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= len("\r\n") {
			break
		}
		if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(digits))); err != nil {
				return err
			}
		}
	}
	if !strings.HasPrefix(first, "HTTP/1.1 20") || length < 0 {
		text, _ := io.ReadAll(io.LimitReader(c.answers, int64(min(max(length, 0), 500))))
		return fmt.Errorf("%s %s: %s: %s", method, path, strings.TrimSpace(first), text)
	}
	_, err = c.answers.Discard(length)
	return err
}
