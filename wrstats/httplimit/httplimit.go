package httplimit

import (
	"fmt"
	"net/http"
	"net/netip"

	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// Options tune the middleware. The zero value is right for most.
type Options struct {
	// Denied answers a request that is not let through; nil: Deny. It says which status is due by
	// [Status]. Retry-After, RateLimit and RateLimit-Policy are set already, and may be changed. The
	// Decision has no ops when err is not the store's. Requests call it at the same time.
	Denied func(w http.ResponseWriter, r *http.Request, d limiter.Decision, err error)
}

func (o Options) withDefaults() Options {
	if o.Denied == nil {
		o.Denied = Deny
	}
	return o
}

// New returns middleware that tries what ops says of a request, with the request's context, and passes
// on what the limiter allows. A request without ops passes untouched, and an error of ops denies. Requests call
// ops at the same time. New panics without a limiter or without ops.
//
// When the store fails, the request passes or not by [limiter.Options.FailOpen]; in shadow mode it passes,
// as what the limits deny does. How long a store takes to fail is up to its own time-outs, and to the
// deadline of the request's context.
//
// The fields RateLimit-Policy and RateLimit are added before the next handler runs, which may change
// them, so that middleware inside of other has its policies beside those. They have an item for each
// condition: its name, in which bytes other than printable ASCII, and %, are percent-encoded; q, the
// limit; w, the window in seconds, rounded up; r, what is left of the limit once the request is counted,
// of several entities the least; and where a condition denies, t, the seconds until it does not. A count
// that was not read has no item in RateLimit. Their names are spelled as net/http does, in lower case from
// the second letter of each word on, which is the same to clients.
func New(l *limiter.Limiter, ops func(*http.Request) ([]limiter.Op, error), opts Options) func(http.Handler) http.Handler {
	if l == nil || ops == nil {
		panic("httplimit: New without a limiter or without ops")
	}
	opts, policies := opts.withDefaults(), newPolicies(l.Conditions())
	return func(next http.Handler) http.Handler {
		return &handler{limiter: l, ops: ops, denied: opts.Denied, policies: policies, next: next}
	}
}

// PerClient returns the ops of a limit for each client address: one unit of a condition for the
// [ClientEntity] of the [ClientAddr].
func PerClient(condition string, trusted ...netip.Prefix) func(*http.Request) ([]limiter.Op, error) {
	clientAddr := ClientAddr(trusted...)
	return func(r *http.Request) ([]limiter.Op, error) {
		client, err := clientAddr(r)
		if err != nil {
			return nil, err
		}
		return []limiter.Op{{Condition: condition, Entity: ClientEntity(client), Amount: 1}}, nil
	}
}

type handler struct {
	limiter  *limiter.Limiter
	ops      func(*http.Request) ([]limiter.Op, error)
	denied   func(http.ResponseWriter, *http.Request, limiter.Decision, error)
	policies policies
	next     http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ops, err := h.ops(r)
	if err != nil {
		h.deny(w, r, limiter.Decision{}, fmt.Errorf("%w: %w", ErrOps, err))
		return
	}
	d, err := h.limiter.Try(r.Context(), ops...)
	h.policies.describe(w.Header(), d, err)
	if !d.Allowed {
		h.deny(w, r, d, err)
		return
	}
	h.next.ServeHTTP(w, r)
}

func (h *handler) deny(w http.ResponseWriter, r *http.Request, d limiter.Decision, err error) {
	if wait := retryAfter(d, err); wait != "" {
		w.Header().Set("Retry-After", wait)
	}
	h.denied(w, r, d, err)
}
