package api

import "cmp"

// Limits bound what one account or one address may use of the box. A limit of 0
// means no limit.
type Limits struct {
	// RequestsPerSecond is how many requests one account may send. Requests
	// without a key count for their address.
	RequestsPerSecond int
	// RequestBurst is how many of them may come at once, as when a page opens or
	// a program copies its configs.
	RequestBurst int
	// Connections bounds the open connections and, separately, the requests under
	// way: HTTP/2 has many on one connection.
	Connections int
	// ConnectionsPerAddress bounds those of one address. Clients on the machine
	// itself, such as a reverse proxy, are exempt.
	ConnectionsPerAddress int
	// DiskPerAccount bounds the data that one account stores, in bytes. An
	// account above it cannot use routes that store more.
	DiskPerAccount int64
	// BatchUpload bounds the body of a request for a job of analysis, in bytes.
	BatchUpload int64
}

// batchBody is the largest body of a request for a job of analysis.
func (l Limits) batchBody() int64 { return cmp.Or(l.BatchUpload, 1<<50) } // more than any disk has
