package api

// Limits bound what one account, or one address, takes of the box, so that
// there is something left for the others. A limit of 0 is none.
type Limits struct {
	// RequestsPerSecond that one account may make for longer than the burst.
	// Where no key is needed, it is those of one address.
	RequestsPerSecond int
	// RequestBurst is how many of them may come at once: a page that opens, or
	// a program that copies its configs.
	RequestBurst int
	// Connections that may be open at once, and requests that may be under way
	// at once: HTTP/2 has many of them on one connection.
	Connections int
	// ConnectionsPerAddress are those of one address. Clients on the machine
	// itself, as a reverse proxy is, have no limit of their own.
	ConnectionsPerAddress int
	// DiskPerAccount is how much one account may hold, in bytes. One that holds
	// as much can begin no chats and make no configs, prompts and tools.
	DiskPerAccount int64
}
