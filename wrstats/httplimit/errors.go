package httplimit

import "errors"

var (
	// ErrNoAddress is wrapped by the errors of the functions that [ClientAddr] and [PerClient] return, and so
	// by what [Options.Denied] gets then: the RemoteAddr of a request is no address.
	ErrNoAddress = errors.New("httplimit: RemoteAddr: not an IP address")

	// ErrOps is wrapped by what [Options.Denied] gets for a request whose ops function failed, with the
	// function's own error.
	ErrOps = errors.New("httplimit: ops of the request")
)
