package api

// Limits bound what one account, or one address, takes of the box, so that
// there is something left for the others. A limit of 0 is none.
type Limits struct {
	// Requests that one account may make in a second, over some time; twice as
	// many at once. Where no key is needed, it is those of one address.
	Requests int
	// Connections that may be open at once, and requests that may be under way
	// at once: HTTP/2 has many of them on one connection.
	Connections int
	// ConnectionsPerAddress are those of one address. Clients on the machine
	// itself, as a reverse proxy is, have no limit of their own.
	ConnectionsPerAddress int
}
