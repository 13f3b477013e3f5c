package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
)

// apiClient is an HTTP client that does as little as it can, so that the server
// is measured and not the client beside it: one connection, and requests that
// are put together as text.
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

// ask fails where the answer is not 200 or 201.
func (c *apiClient) ask(method, path, body string) error {
	c.request = fmt.Appendf(c.request[:0], "%s %s HTTP/1.1\r\nHost: box\r\nX-Service-Api-Key: %s\r\n", method, path, c.key)
	if body != "" {
		c.request = fmt.Appendf(c.request, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.request = append(append(c.request, "\r\n"...), body...)
	if _, err := c.Write(c.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
